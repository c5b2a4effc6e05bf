// How far a float32 result may be from the float64 truth.
#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace mezzotint::testing {

// The distance from |value| to the next float32.
[[nodiscard]] double ulp_of(double value);

// `multiple` times the error that PyTorch's own float32 made, but at least 2 ulp of the truth's
// maximum, since some fixtures record no error at all.
[[nodiscard]] double fixture_bound(double multiple, double reference_error, double max_abs_truth);

// What a float32 sum of `terms` products may be off when they are added one after another, as
// direct convolutions do, whatever PyTorch's order made of the same sum. Step k rounds the partial
// sum S_k with a variance of at most (u S_k)^2 / 3, u = 2^-24; on the way of a random walk to y,
// S_k^2 is (k/K)^2 y^2 on average, plus the walk's own variance, which is small beside it for the
// largest y. Together: u sqrt(K) max|y| / 3. This is six times that, so that one value in 10^9
// exceeds it. 0 for no terms.
[[nodiscard]] double sum_bound(std::int64_t terms, double max_abs);

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
