#include "profile/bottleneck.h"

#include <algorithm>
#include <cmath>

namespace mezzotint {
namespace {

double bandwidth_of(const MemoryLevel& level) {
  return level.all_threads;
}

Bottleneck nearest_level(const OpProfile& op, const Calibration& machine) {
  Bottleneck nearest = Bottleneck::kMemoryDram;
  double least = INFINITY;
  const MemoryLevel* const end = machine.levels.data() + machine.levels.size();
  for (const MemoryLevel* level = level_that_holds(op.bytes, machine); level != end; ++level) {
    const double seconds = op.bytes / bandwidth_of(*level);
    const double distance = std::abs(std::log(seconds / op.seconds.median));
    const auto named = bottleneck_from_name(level->name);
    if (named && distance < least) {
      least = distance;
      nearest = *named;
    }
  }
  return nearest;
}

}  // namespace

bool is_conversion(std::string_view kind) {
  return kind == "reorder";
}

double start_seconds(const OpProfile& op, const Calibration& machine) {
  const double loops = std::max(op.loops, 1.0);
  const double further_tasks = std::max(0.0, op.tasks - loops * machine.threads);
  return loops * machine.start_seconds + further_tasks * machine.task_seconds;
}

const MemoryLevel* level_that_holds(double bytes, const Calibration& machine) {
  for (const MemoryLevel& level : machine.levels) {
    if (level.bytes == 0 || bytes <= level.capacity()) {
      return &level;
    }
  }
  return machine.levels.empty() ? nullptr : &machine.levels.back();
}

double Roofline::attainable_seconds() const {
  return std::max(compute_seconds, memory_seconds);
}

Roofline roofline_of(const OpProfile& op, const Calibration& machine) {
  Roofline roofline;
  if (const UnitPeak* peak = machine.find(op.unit); peak != nullptr && peak->all_threads > 0) {
    roofline.compute_seconds = op.flops / peak->all_threads;
  }
  const MemoryLevel* level = level_that_holds(op.bytes, machine);
  if (level != nullptr && bandwidth_of(*level) > 0) {
    roofline.memory_seconds = op.bytes / bandwidth_of(*level);
  }
  return roofline;
}

Bottleneck classify(const OpProfile& op, const Calibration& machine) {
  if (is_conversion(op.kind)) {
    return Bottleneck::kConversion;
  }
  if (start_seconds(op, machine) > kOverheadShare * op.seconds.median) {
    return Bottleneck::kOverhead;
  }
  if (op.imbalance > kImbalanceShare) {
    return Bottleneck::kImbalance;
  }
  const Roofline roofline = roofline_of(op, machine);
  return roofline.memory_seconds > roofline.compute_seconds ? nearest_level(op, machine)
                                                            : Bottleneck::kCompute;
}

}  // namespace mezzotint
