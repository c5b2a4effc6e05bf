// How far a float32 result may be from the float64 truth. The bound of a sum is sum_bound() of
// base/rounding.h.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "base/rounding.h"

namespace mezzotint::testing {

// The distance from |value| to the next float32.
[[nodiscard]] double ulp_of(double value);

// `multiple` times the error that PyTorch's own float32 made, but at least 2 ulp of the truth's
// maximum, since some fixtures record no error at all.
[[nodiscard]] double fixture_bound(double multiple, double reference_error, double max_abs_truth);

// Rounded to bfloat16, ties to even; of a finite value. What a bound must tell from float32.
[[nodiscard]] std::uint16_t bf16_from_float(float value);

struct Difference {
  double max_abs = 0;  // infinity when a value is not finite where the truth is
  double relative_l2 = 0;
  std::size_t worst = 0;  // flat index of max_abs
  std::string text;       // "max |error| 1.2e-6 at 17 (got 1.5, expected 1.4), relative L2 3e-7"
};

// The spans must have one size.
[[nodiscard]] Difference difference(std::span<const float> values, std::span<const float> truth);
[[nodiscard]] Difference difference(std::span<const float> values, std::span<const double> truth);

}  // namespace mezzotint::testing
