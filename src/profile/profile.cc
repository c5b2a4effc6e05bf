#include "profile/profile.h"

namespace mezzotint {
namespace {

constexpr Bottleneck kAllBottlenecks[] = {
    Bottleneck::kCompute,    Bottleneck::kMemoryL2, Bottleneck::kMemoryL3, Bottleneck::kMemoryDram,
    Bottleneck::kConversion, Bottleneck::kOverhead, Bottleneck::kImbalance};

double ratio(double part, double whole) {
  return whole > 0 ? part / whole : 0;
}

}  // namespace

double Spread::relative() const {
  return ratio(high - low, median);
}

std::string_view name_of(Bottleneck bottleneck) {
  switch (bottleneck) {
    case Bottleneck::kCompute: return "compute";
    case Bottleneck::kMemoryL2: return "L2";
    case Bottleneck::kMemoryL3: return "L3";
    case Bottleneck::kMemoryDram: return "DRAM";
    case Bottleneck::kConversion: return "conversion";
    case Bottleneck::kOverhead: return "overhead";
    case Bottleneck::kImbalance: return "imbalance";
  }
  return "";
}

std::optional<Bottleneck> bottleneck_from_name(std::string_view name) {
  for (const Bottleneck bottleneck : kAllBottlenecks) {
    if (name_of(bottleneck) == name) {
      return bottleneck;
    }
  }
  return std::nullopt;
}

double OpProfile::intensity() const {
  return ratio(flops, bytes);
}

double OpProfile::attained() const {
  return ratio(attainable_seconds, seconds.median);
}

double Profile::sum_ratio() const {
  return ratio(sum_seconds, seconds.median);
}

double Profile::listening_cost() const {
  return plain_seconds.median > 0 ? seconds.median / plain_seconds.median - 1 : 0;
}

}  // namespace mezzotint
