// How far a sum computed in floating point may be from the exact one.
#pragma once

#include <algorithm>
#include <cmath>

namespace mezzotint {

// Unit roundoff: half the distance from 1 to the next number.
inline constexpr double kFloatRoundoff = 0x1p-24;
inline constexpr double kDoubleRoundoff = 0x1p-53;
inline constexpr double kBf16Roundoff = 0x1p-8;

// Largest error to accept of sums of `terms` terms each, the largest of which, exactly, is
// `max_abs` in magnitude: 2 u sqrt(terms) max_abs. Adding one after the other, step k rounds the
// partial sum S_k with a variance of at most (u S_k)^2 / 3. Terms of one sign make S_k^2 about (k /
// K)^2 max^2, and so an error with a deviation of u sqrt(K) max / 3; this is six times that. Terms
// of random sign walk: S_k^2 is about k / K times the variance of the sum, and the deviation u
// sqrt(K / 6) times the sum's; the largest of some thousand errors is about 4 deviations of theirs
// and the largest sum about 4 of its own, so that this is five times what is met. Sums in blocks
// err less (Higham, "The accuracy of floating point summation", SIAM J. Sci. Comput. 1993). The
// worst case, K u times the sum of magnitudes, is some sqrt(K) times looser: it would accept
// bfloat16. This refuses that and TF32 up to K = 10^5.
[[nodiscard]] inline double sum_bound(double terms, double max_abs,
                                      double roundoff = kFloatRoundoff) {
  return 2.0 * roundoff * std::sqrt(terms) * max_abs;
}

// How many times the error of a direct float32 sum one of products has whose operands were rounded,
// both to `roundoff`, and are multiplied exactly: for operands of random sign, magnitudes aside, an
// operand's relative error has a variance of at most roundoff^2 / 3, and the sum of `terms`
// products the deviation roundoff sqrt(2 / 3) of its own; adding them one after the other in
// float32 costs u sqrt((terms + 1) / 6) of it (see above), which comes on top. sum_bound() times
// this is about 4 roundoff max_abs.
[[nodiscard]] inline double operand_error_growth(double terms, double roundoff) {
  return std::hypot(1.0, 2.0 * roundoff / kFloatRoundoff / std::sqrt(terms + 1));
}

// sum_bound() for means and variances of `values` values each, the largest of which is `max_abs`,
// by sums of x and x^2 in double. Means of squares, var + mean^2, are at most M + M^2 with M the
// largest moment, and means of magnitudes at most the root of that: sum_bound() for the larger of
// the two, which covers the truth's own rounding too. It expects sums in blocks: one long sum of
// squares of like values errs more, since their low bits are not uniform. Sums in float32, rounded
// 2^29 times coarser, are refused, as are blocks of 64 of them at 128^3 while M is below 1000.
[[nodiscard]] inline double moments_bound(double values, double max_abs) {
  const double mean_square = max_abs * (1 + max_abs);
  return sum_bound(values, std::max(mean_square, std::sqrt(mean_square)), kDoubleRoundoff);
}

}  // namespace mezzotint
