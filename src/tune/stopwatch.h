// Times one op by itself, as it would run between others.
#pragma once

#include <cstddef>

#include "backend/backend.h"
#include "base/aligned_buffer.h"
#include "graph/graph.h"
#include "mezzotint/cancel.h"
#include "mezzotint/result.h"

namespace mezzotint {

struct OpTiming {
  double seconds = 0;  // median
  double spread = 0;   // (third quartile - first) / median; 0 for a single run
  int runs = 0;

  friend bool operator==(const OpTiming&, const OpTiming&) = default;
};

struct StopwatchOptions {
  int least_runs = 3;
  int most_runs = 25;
  double enough_seconds = 0.1;  // of runs and what is between them; then least_runs are enough
  // Above this an op that takes long enough to matter is measured anew, so many times at most; the
  // least spread counts.
  double most_spread = 0.25;
  int repetitions = 2;
  // Ops faster than this may spread as they like: all of them together decide nothing.
  double matters_seconds = 5e-4;
  // A first run that takes longer than this is the only one: it has lost.
  double lost_seconds = 0;  // 0: never
};

// Whether the timing is as steady as the options ask for.
[[nodiscard]] bool is_steady(const OpTiming& timing, const StopwatchOptions& options);

class Stopwatch {
 public:
  // `team` must outlive it.
  static Result<Stopwatch> create(const Target& target, const ThreadTeam& team);

  // The one op of `graph` (one_op_graph), computed by `implementation`, which does not refuse it.
  // Inputs hold noise. Before each run other memory is written, 8 times what the op touches, at
  // most 64 MB, so that weights and inputs come from as far away as in a network, where other ops
  // have been at work since they were last used. kCancelled between runs.
  [[nodiscard]] Result<OpTiming> measure(const Graph& graph, const Implementation& implementation,
                                         const StopwatchOptions& options,
                                         const CancelToken* cancel) const;

 private:
  Stopwatch(Target target, const ThreadTeam& team, AlignedBuffer flush)
      : target_(std::move(target)), team_(&team), flush_(std::move(flush)) {}

  Target target_;
  const ThreadTeam* team_;
  AlignedBuffer flush_;
};

}  // namespace mezzotint
