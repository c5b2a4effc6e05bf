#include "base/rounding.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>

namespace mezzotint {
namespace {

struct Sums {
  double max_error = 0;
  double max_abs = 0;
};

// Many sums of terms in [low, 1), in float one after the other against double.
Sums float_sums(int terms, double low) {
  constexpr int kSums = 2000;
  std::mt19937 random(7);
  Sums sums;
  for (int i = 0; i < kSums; ++i) {
    float sum = 0;
    double truth = 0;
    for (int k = 0; k < terms; ++k) {
      const auto term = static_cast<float>(low + (1 - low) * random() / 0x1p32);
      sum += term;
      truth += static_cast<double>(term);
    }
    sums.max_error = std::max(sums.max_error, std::abs(static_cast<double>(sum) - truth));
    sums.max_abs = std::max(sums.max_abs, std::abs(truth));
  }
  return sums;
}

TEST(Rounding, SumsKeepTheBoundAndUseSomeOfIt) {
  for (const double low : {-1.0, 0.0}) {
    for (const int terms : {27, 1728, 13824}) {
      const Sums sums = float_sums(terms, low);
      const double bound = sum_bound(terms, sums.max_abs);
      EXPECT_LT(sums.max_error, bound) << terms << " from " << low;
      EXPECT_GT(sums.max_error, 0.05 * bound) << terms << " from " << low;
      // What is to be summed in double must not be summed in float.
      EXPECT_GT(sums.max_error, 1e6 * sum_bound(terms, sums.max_abs, kDoubleRoundoff));
    }
  }
}

TEST(Rounding, TellsBfloat16FromFloat) {
  constexpr double kBfloat16Roundoff = 0x1p-8;
  constexpr double kTf32Roundoff = 0x1p-11;
  // Rounding the terms alone errs by u / 3 of the sum or so, however the sum is then computed.
  for (const double roundoff : {kBfloat16Roundoff, kTf32Roundoff}) {
    EXPECT_GT(roundoff / 3, 4 * sum_bound(1e5, 1.0));
  }
  EXPECT_EQ(sum_bound(0, 1.0), 0);
}

// To `digits` binary digits, the leading one included.
float rounded(float value, int digits) {
  int exponent = 0;
  const float fraction = std::frexp(value, &exponent);
  return std::ldexp(std::nearbyint(std::ldexp(fraction, digits)), exponent - digits);
}

// Many sums of products of operands in [-1, 1) of so many digits, against the unrounded ones.
Sums sums_of_rounded(int terms, int digits) {
  constexpr int kSums = 100;
  std::mt19937 random(7);
  const auto operand = [&] { return static_cast<float>(2 * (random() / 0x1p32) - 1); };
  Sums sums;
  for (int i = 0; i < kSums; ++i) {
    float sum = 0;
    double truth = 0;
    for (int k = 0; k < terms; ++k) {
      const float x = operand();
      const float y = operand();
      sum += rounded(x, digits) * rounded(y, digits);
      truth += static_cast<double>(x) * y;
    }
    sums.max_error = std::max(sums.max_error, std::abs(static_cast<double>(sum) - truth));
    sums.max_abs = std::max(sums.max_abs, std::abs(truth));
  }
  return sums;
}

TEST(Rounding, OperandsOfBfloat16KeepTheirBoundAndCoarserOnesDoNot) {
  constexpr int kBf16Digits = 8;
  for (const int terms : {16, 1728, 13824}) {
    const double growth = operand_error_growth(terms, kBf16Roundoff);
    const Sums sums = sums_of_rounded(terms, kBf16Digits);
    const double bound = growth * sum_bound(terms, sums.max_abs);
    EXPECT_NEAR(bound, 4 * kBf16Roundoff * sums.max_abs, 0.2 * bound);
    EXPECT_LT(sums.max_error, bound) << terms;
    EXPECT_GT(sums.max_error, 0.05 * bound) << terms;
    const Sums coarse = sums_of_rounded(terms, kBf16Digits - 4);
    EXPECT_GT(coarse.max_error, growth * sum_bound(terms, coarse.max_abs)) << terms;
  }
}

}  // namespace
}  // namespace mezzotint
