#include "pipeline/relative_l2.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace mezzotint {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

}  // namespace

double relative_l2(std::span<const float> values, std::span<const float> truth) {
  if (values.size() != truth.size()) {
    return kInfinity;
  }
  double error_squares = 0;
  double truth_squares = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double expected = truth[i];
    const double error = values[i] - expected;
    error_squares += error * error;
    truth_squares += expected * expected;
  }
  // One value that is not finite, of either, makes the sum infinite or not a number; squares of
  // finite floats cannot overflow a double.
  if (!std::isfinite(error_squares)) {
    return kInfinity;
  }
  return error_squares == 0 ? 0 : std::sqrt(error_squares / truth_squares);
}

double relative_largest(std::span<const float> values, std::span<const float> truth) {
  if (values.size() != truth.size()) {
    return kInfinity;
  }
  double error = 0;
  double magnitude = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double expected = truth[i];
    const double distance = std::abs(values[i] - expected);
    if (!std::isfinite(distance)) {
      return kInfinity;
    }
    error = std::max(error, distance);
    magnitude = std::max(magnitude, std::abs(expected));
  }
  return error == 0 ? 0 : error / magnitude;
}

}  // namespace mezzotint
