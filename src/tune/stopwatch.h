// Times ops by themselves, as they would run between others, in turns.
#pragma once

#include <cstddef>
#include <limits>
#include <span>
#include <vector>

#include "backend/backend.h"
#include "base/aligned_buffer.h"
#include "graph/graph.h"
#include "mezzotint/cancel.h"
#include "mezzotint/result.h"
#include "tune/deadline.h"

namespace mezzotint {

struct OpTiming {
  double seconds = 0;  // median
  double spread = 0;   // (third quartile - first) / median; 0 for a single run
  int runs = 0;

  friend bool operator==(const OpTiming&, const OpTiming&) = default;
};

// Two sets of ops against each other.
struct PairedTiming {
  double standard_seconds = 0;  // median of the other
  double ratio = 0;       // of the seconds of the one to those of the other; the median over pairs
  double high_ratio = 0;  // third quartile: in three pairs of four it was at most that
  int pairs = 0;

  friend bool operator==(const PairedTiming&, const PairedTiming&) = default;
};

struct StopwatchOptions {
  Deadline deadline;  // nothing is repeated after it
  int least_runs = 3;
  int most_runs = 25;
  double enough_seconds = 0.1;  // of runs and what is between them; then least_runs are enough
  // Above this an op that takes long enough to matter is measured anew, so many times at most; the
  // least spread counts.
  double most_spread = 0.25;
  int repetitions = 2;
  // Ops faster than this may spread as they like: all of them together decide nothing.
  double matters_seconds = 5e-4;
  // Of a comparison. Of 16 pairs of equals, one side wins three of four by chance in 4 % of cases.
  int least_pairs = 16;
  int most_pairs = 40;
  double enough_pair_seconds = 1;  // then least_pairs are enough
};

// The one op of a graph (one_op_graph) and what computes it, which does not refuse it. Both must
// outlive what is done with it.
struct TimedWay {
  const Graph* graph = nullptr;
  const Implementation* implementation = nullptr;
  // What takes longer than this in its first run and in a second has lost.
  double lost_seconds = std::numeric_limits<double>::infinity();
};

// Whether the timing is as steady as the options ask for.
[[nodiscard]] bool is_steady(const OpTiming& timing, const StopwatchOptions& options);

// Inputs hold noise. Before each run other memory is written, 8 times what the op touches, at most
// 64 MB, so that weights and inputs come from as far away as in a network, where other ops have
// been at work since they were last used.
class Stopwatch {
 public:
  // `team` must outlive it.
  static Result<Stopwatch> create(const Target& target, const ThreadTeam& team);

  // Each way in turn, one run at a time, over and over: a machine that slows down slows all of
  // them. As many of the first ways as may be in memory together, at least one; the result is as
  // long. A way that takes over three times as long as another for the same graph is not run on.
  // Empty when the deadline came before each had been timed. kCancelled between runs.
  [[nodiscard]] Result<std::vector<OpTiming>> measure(std::span<const TimedWay> ways,
                                                      const StopwatchOptions& options,
                                                      const CancelToken* cancel) const;

  // All of `changed` against all of `standard`, in pairs, the one that begins alternating.
  // `changed` may be empty. No pairs when the deadline came before there were enough. kCancelled
  // between pairs.
  [[nodiscard]] Result<PairedTiming> compare(std::span<const TimedWay> standard,
                                             std::span<const TimedWay> changed,
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
