#include "tune/measuring.h"

#include <algorithm>
#include <chrono>

#include "base/error.h"

namespace mezzotint {
namespace {

constexpr double kLostFactor = 3;
// Before so many have been timed, nothing is said of the machine.
constexpr int kFewTimings = 12;

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

// 0 while nothing has been timed.
double fastest_timed(const TableOp& op) {
  double fastest = 0;
  for (const Way& way : op.ways) {
    if (way.timing && (fastest == 0 || way.timing->seconds < fastest)) {
      fastest = way.timing->seconds;
    }
  }
  return fastest;
}

struct Steadiness {
  double seconds = 0;
  double unsteady_seconds = 0;

  [[nodiscard]] bool is_bad(const MeasuringOptions& options) const {
    return !options.force && unsteady_seconds > options.most_unsteady * seconds;
  }
};

Error busy(const MeasuringCounts& counts, const MeasuringOptions& options) {
  return resource_error(
      "this machine is busy: {} of {} timings vary by more than {:.0f} % even when repeated; those "
      "that do not are kept: try again when it is idle, or pass --force",
      counts.unsteady, counts.measured, 100 * options.stopwatch.most_spread);
}

}  // namespace

Status measure_ways(OpTable& table, TimingCache& cache, const Stopwatch& stopwatch,
                    const MeasuringOptions& options, const OnMeasured& on_measured,
                    const CancelToken* cancel, MeasuringCounts& counts) {
  std::vector<WayId> left;
  counts.ways = table.ways();
  for (const WayId& id : table.unmeasured()) {
    if (const auto timing = cache.find(table.op(id.op).text, table.way(id).name())) {
      table.set_timing(id, *timing);
      ++counts.cached;
    } else {
      left.push_back(id);
    }
  }
  const auto start = std::chrono::steady_clock::now();
  const double before = counts.seconds;
  Steadiness steadiness;
  for (const WayId& id : left) {
    if (counts.seconds >= options.most_seconds) {
      break;
    }
    if (!on_measured(counts.cached + counts.measured, counts.ways)) {
      return Error{ErrorCode::kCancelled, "stopped on request"};
    }
    const TableOp& op = table.op(id.op);
    StopwatchOptions watch = options.stopwatch;
    watch.lost_seconds = kLostFactor * fastest_timed(op);
    const auto timing = stopwatch.measure(op.graph, *table.way(id).implementation, watch, cancel);
    if (!timing) {
      return timing.error();
    }
    table.set_timing(id, *timing);
    ++counts.measured;
    const bool steady = is_steady(*timing, watch);
    counts.unsteady += steady ? 0 : 1;
    steadiness.seconds += timing->seconds;
    steadiness.unsteady_seconds += steady ? 0 : timing->seconds;
    if (steady && timing->seconds >= watch.matters_seconds) {
      counts.largest_spread = std::max(counts.largest_spread, timing->spread);
    }
    if (steady || options.force) {
      if (Status status = cache.add(op.text, table.way(id).name(), *timing); !status) {
        return status;
      }
    }
    counts.seconds = before + seconds_since(start);
    if (counts.measured >= kFewTimings && steadiness.is_bad(options)) {
      return busy(counts, options);
    }
  }
  if (steadiness.is_bad(options)) {
    return busy(counts, options);
  }
  on_measured(counts.cached + counts.measured, counts.ways);
  return {};
}

}  // namespace mezzotint
