#include "pipeline/relative_l2.h"

#include <cmath>
#include <limits>

namespace mezzotint {

double relative_l2(std::span<const float> values, std::span<const float> truth) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
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

}  // namespace mezzotint
