// What each op of a program takes, run by run.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "profile/profile.h"
#include "profile/team_log.h"
#include "runtime/listener.h"

namespace mezzotint {

// One op over all runs.
struct OpRecord {
  ProgramOp op;
  std::string kind;  // as OpProfile has them
  std::string level;
  std::vector<double> seconds;  // by run
  // Of the last run, in seconds since it began: right before the launch, and right after it.
  double begin = 0;
  double end = 0;
  // The rest only with a team's log. By run: TeamLog::imbalance(). An op that opens no loop keeps
  // one thread busy.
  std::vector<double> imbalance;
  // Sums over runs.
  double loops = 0;
  double tasks = 0;
  std::vector<double> busy_seconds;  // by thread
};

class Recorder final : public Listener {
 public:
  // `log`: what the team of the runs tells; null: only time is recorded. It is cleared before each
  // op.
  explicit Recorder(TeamLog* log = nullptr) : log_(log) {}

  // Before each run, of the same program at the same rate.
  void begin_run();
  void before_op(const ProgramOp& op) override;
  Status on_op(const OpEvent& event) override;

  // In the order they run.
  [[nodiscard]] const std::vector<OpRecord>& ops() const { return ops_; }
  // Of the last run.
  [[nodiscard]] const std::vector<TraceSpan>& trace() const { return trace_; }

 private:
  using Clock = std::chrono::steady_clock;

  [[nodiscard]] double since_begin(Clock::time_point time) const;
  void record_team(OpRecord& record, double seconds);

  TeamLog* log_;
  std::vector<OpRecord> ops_;
  std::size_t next_ = 0;
  Clock::time_point run_began_;
  Clock::time_point op_began_;
  std::vector<TraceSpan> trace_;
};

// "64x32x32" (x, y, z): the grid that an op works on; "vectors".
[[nodiscard]] std::string level_of(const OpView& view);
// The name of its kind; of a region around a convolution "fused conv3d".
[[nodiscard]] std::string kind_of(const OpView& view);

}  // namespace mezzotint
