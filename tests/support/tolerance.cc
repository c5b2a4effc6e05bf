#include "support/tolerance.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "base/check.h"

namespace mezzotint::testing {
namespace {

template <typename Truth>
Difference compare(std::span<const float> values, std::span<const Truth> truth) {
  check(values.size() == truth.size(), "values and truth differ in size");
  Difference result;
  double error_squares = 0;
  double truth_squares = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double expected = truth[i];
    const double signed_error = values[i] - expected;
    const double error = std::isfinite(signed_error) ? std::abs(signed_error)
                                                     : std::numeric_limits<double>::infinity();
    if (error > result.max_abs) {
      result.max_abs = error;
      result.worst = i;
    }
    error_squares += error * error;
    truth_squares += expected * expected;
  }
  result.relative_l2 = error_squares == 0 ? 0 : std::sqrt(error_squares / truth_squares);
  if (!values.empty()) {
    result.text =
        fmt::format("max |error| {:.3g} at {} (got {:.9g}, expected {:.9g}), relative L2 {:.3g}",
                    result.max_abs, result.worst, values[result.worst],
                    static_cast<double>(truth[result.worst]), result.relative_l2);
  }
  return result;
}

}  // namespace

double ulp_of(double value) {
  const auto magnitude = static_cast<float>(std::abs(value));
  return static_cast<double>(std::nextafter(magnitude, std::numeric_limits<float>::infinity())) -
         static_cast<double>(magnitude);
}

double fixture_bound(double multiple, double reference_error, double max_abs_truth) {
  return std::max(multiple * reference_error, 2.0 * ulp_of(max_abs_truth));
}

std::uint16_t bf16_from_float(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  return static_cast<std::uint16_t>((bits + 0x7FFFU + ((bits >> 16) & 1U)) >> 16);
}

Difference difference(std::span<const float> values, std::span<const float> truth) {
  return compare(values, truth);
}

Difference difference(std::span<const float> values, std::span<const double> truth) {
  return compare(values, truth);
}

}  // namespace mezzotint::testing
