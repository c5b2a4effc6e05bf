#include "imaging/value_tally.h"

#include <fmt/format.h>

#include <cmath>
#include <utility>
#include <vector>

namespace mezzotint {

std::optional<std::int64_t> whole_number(double value) {
  constexpr double kTolerance = 1e-3;
  constexpr double kLargest = 2147483648.0;  // 2^31
  // A negated comparison refuses NaN too.
  if (!(std::abs(value) <= kLargest)) {
    return std::nullopt;
  }
  const double nearest = std::round(value);
  if (std::abs(value - nearest) > kTolerance) {
    return std::nullopt;
  }
  return static_cast<std::int64_t>(nearest);
}

void ValueTally::add(double value) {
  if (const auto whole = whole_number(value)) {
    value = static_cast<double>(*whole);
  } else {
    all_whole = false;
  }
  if (std::isnan(value)) {
    ++nan;
    return;
  }
  lowest = std::min(lowest, value);
  highest = std::max(highest, value);
  if (const auto found = counts.find(value); found != counts.end()) {
    ++found->second;
  } else if (counts.size() < kMostCounted) {
    counts.emplace(value, 1);
  } else {
    ++not_counted;
  }
}

std::int64_t ValueTally::total() const {
  std::int64_t sum = nan + not_counted;
  for (const auto& [value, count] : counts) {
    sum += count;
  }
  return sum;
}

std::string ValueTally::describe(std::size_t listed) const {
  std::vector<std::pair<double, std::int64_t>> common(counts.begin(), counts.end());
  if (nan > 0) {
    common.emplace_back(std::nan(""), nan);
  }
  std::stable_sort(common.begin(), common.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  common.resize(std::min(common.size(), listed));
  std::string text;
  std::int64_t rest = total();
  for (const auto& [value, count] : common) {
    const char* const verb = count == 1 ? "is" : "are";
    text += text.empty() ? fmt::format("{} {} {} {:.6g}", count, count == 1 ? "voxel" : "voxels",
                                       verb, value)
                         : fmt::format(", {} {} {:.6g}", count, verb, value);
    rest -= count;
  }
  return rest == 0 ? text : text + fmt::format(" and {} have other values", rest);
}

ValueTally tally_values(const NiftiImage& image) {
  ValueTally tally;
  for_each_value(image, [&](std::size_t, double value) { tally.add(value); });
  return tally;
}

}  // namespace mezzotint
