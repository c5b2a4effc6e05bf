#include "tune/measuring.h"

#include <algorithm>
#include <chrono>
#include <limits>
#include <map>
#include <span>
#include <vector>

#include "base/cancel.h"
#include "base/error.h"

namespace mezzotint {
namespace {

// Than an op's fastest way so far.
constexpr double kLostFactor = 3;
// Before so many have been timed, nothing is said of the machine.
constexpr int kFewTimings = 12;

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

// Above this a first run has lost; infinity while nothing has been timed.
double lost_seconds(const TableOp& op) {
  double fastest = std::numeric_limits<double>::infinity();
  for (const Way& way : op.ways) {
    if (way.timing) {
      fastest = std::min(fastest, way.timing->seconds);
    }
  }
  return kLostFactor * fastest;
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

class Measuring {
 public:
  Measuring(OpTable& table, TimingCache& cache, const Stopwatch& stopwatch,
            const MeasuringOptions& options, MeasuringCounts& counts)
      : table_(table), cache_(cache), stopwatch_(stopwatch), options_(options), counts_(counts) {}

  // What the cache does not have, by rivals; those that no list holds come last, each by itself.
  std::vector<std::vector<WayId>> take_from_cache(const RivalOps& rivals) {
    std::map<std::size_t, std::size_t> list_of;
    for (std::size_t i = 0; i < rivals.size(); ++i) {
      for (const std::size_t op : rivals[i]) {
        list_of.emplace(op, i);
      }
    }
    std::vector<std::vector<WayId>> left(rivals.size());
    for (const WayId& id : table_.unmeasured()) {
      if (const auto timing = cache_.find(table_.op(id.op).text, table_.way(id).name())) {
        table_.set_timing(id, *timing);
        ++counts_.cached;
        continue;
      }
      const auto [found, is_new] = list_of.emplace(id.op, left.size());
      if (is_new) {
        left.emplace_back();
      }
      left[found->second].push_back(id);
    }
    return left;
  }

  // As many of the first ways as go together; how many.
  Result<std::size_t> measure(std::span<const WayId> ids, const CancelToken* cancel) {
    std::vector<TimedWay> ways;
    for (const WayId& id : ids) {
      const TableOp& op = table_.op(id.op);
      ways.push_back({&op.graph, table_.way(id).implementation, lost_seconds(op)});
    }
    const auto timings = stopwatch_.measure(ways, options_.stopwatch, cancel);
    if (!timings) {
      return timings.error();
    }
    for (std::size_t i = 0; i < timings->size(); ++i) {
      if (Status status = keep(ids[i], (*timings)[i]); !status) {
        return status.error();
      }
    }
    return timings->size();
  }

  [[nodiscard]] bool is_busy() const { return steadiness_.is_bad(options_); }

 private:
  Status keep(const WayId& id, const OpTiming& timing) {
    table_.set_timing(id, timing);
    ++counts_.measured;
    const bool steady = is_steady(timing, options_.stopwatch);
    counts_.unsteady += steady ? 0 : 1;
    steadiness_.seconds += timing.seconds;
    steadiness_.unsteady_seconds += steady ? 0 : timing.seconds;
    if (timing.seconds >= options_.stopwatch.matters_seconds) {
      counts_.largest_spread = std::max(counts_.largest_spread, timing.spread);
    }
    if (!steady && !options_.force) {
      return {};
    }
    return cache_.add(table_.op(id.op).text, table_.way(id).name(), timing);
  }

  OpTable& table_;
  TimingCache& cache_;
  const Stopwatch& stopwatch_;
  const MeasuringOptions& options_;
  MeasuringCounts& counts_;
  Steadiness steadiness_;
};

}  // namespace

Status measure_ways(OpTable& table, const RivalOps& rivals, TimingCache& cache,
                    const Stopwatch& stopwatch, const MeasuringOptions& options,
                    const OnMeasured& on_measured, const CancelToken* cancel,
                    MeasuringCounts& counts) {
  counts.ways = table.ways();
  Measuring measuring(table, cache, stopwatch, options, counts);
  const auto start = std::chrono::steady_clock::now();
  const double before = counts.seconds;
  for (const std::vector<WayId>& list : measuring.take_from_cache(rivals)) {
    std::span<const WayId> left = list;
    while (!left.empty() && !options.stopwatch.deadline.is_over()) {
      if (!on_measured(counts.cached + counts.measured, counts.ways)) {
        return stopped();
      }
      const auto measured = measuring.measure(left, cancel);
      if (!measured) {
        return measured.error();
      }
      if (*measured == 0) {
        break;
      }
      left = left.subspan(*measured);
      counts.seconds = before + seconds_since(start);
      if (counts.measured >= kFewTimings && measuring.is_busy()) {
        return busy(counts, options);
      }
    }
  }
  if (measuring.is_busy()) {
    return busy(counts, options);
  }
  on_measured(counts.cached + counts.measured, counts.ways);
  return {};
}

}  // namespace mezzotint
