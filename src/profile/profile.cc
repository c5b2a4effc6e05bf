#include "profile/profile.h"

#include <algorithm>
#include <iterator>
#include <numeric>

#include "base/quantile.h"

namespace mezzotint {
namespace {

constexpr std::string_view kBottleneckNames[] = {"compute",    "L2",       "L3",       "DRAM",
                                                 "conversion", "overhead", "imbalance"};

double ratio(double part, double whole) {
  return whole > 0 ? part / whole : 0;
}

}  // namespace

Spread spread_of(std::vector<double> samples) {
  if (samples.empty()) {
    return {};
  }
  std::sort(samples.begin(), samples.end());
  return {quantile(samples, 0.5), quantile(samples, 0.25), quantile(samples, 0.75)};
}

double Spread::relative() const {
  return ratio(high - low, median);
}

std::string_view name_of(Bottleneck bottleneck) {
  return kBottleneckNames[static_cast<std::size_t>(bottleneck)];
}

std::optional<Bottleneck> bottleneck_from_name(std::string_view name) {
  const auto* found = std::ranges::find(kBottleneckNames, name);
  if (found == std::end(kBottleneckNames)) {
    return std::nullopt;
  }
  return static_cast<Bottleneck>(found - std::begin(kBottleneckNames));
}

double OpProfile::intensity() const {
  return ratio(flops, bytes);
}

double OpProfile::kernel_seconds() const {
  return ratio(std::accumulate(busy_seconds.begin(), busy_seconds.end(), 0.0), kernels);
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
