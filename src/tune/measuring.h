// Fills a table with timings: from the cache, else from the stopwatch.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "mezzotint/cancel.h"
#include "mezzotint/result.h"
#include "tune/op_table.h"
#include "tune/stopwatch.h"
#include "tune/timing_cache.h"

namespace mezzotint {

struct MeasuringOptions {
  bool force = false;          // also where timings spread
  StopwatchOptions stopwatch;  // after its deadline the rest stays predicted
  // Of what has been timed, in seconds of an op each, the part that may be unsteady (is_steady).
  double most_unsteady = 0.25;
};

struct MeasuringCounts {
  int ways = 0;      // in the table
  int cached = 0;    // of them, in the cache before
  int measured = 0;  // now
  int unsteady = 0;  // of the measured
  double seconds = 0;
  double largest_spread = 0;  // of the measured that matter (StopwatchOptions::matters_seconds)

  [[nodiscard]] int predicted() const { return ways - cached - measured; }
};

// `done` of `count` ways have a timing; false stops.
using OnMeasured = std::function<bool(int done, int count)>;

// Lists of ops (indices in the table) that compete with each other, in the order of measuring.
using RivalOps = std::vector<std::vector<std::size_t>>;

// Measures on, where an earlier call with the same `counts` left off. All ways of the ops of one
// list are timed in turns; ops in no list come last. Ways that are more than three times slower
// than the op's fastest so far are run once. An unsteady timing serves this table; only with
// `force` it is kept in the cache. kResource when too much is unsteady, unless forced: the machine
// is busy, and choices by such timings would be chance.
Status measure_ways(OpTable& table, const RivalOps& rivals, TimingCache& cache,
                    const Stopwatch& stopwatch, const MeasuringOptions& options,
                    const OnMeasured& on_measured, const CancelToken* cancel,
                    MeasuringCounts& counts);

}  // namespace mezzotint
