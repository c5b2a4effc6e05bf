#include "base/noise.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>
#include <vector>

#include "base/sha256.h"

namespace mezzotint {
namespace {

using Words = std::array<std::uint32_t, 4>;

std::vector<float> normals(const NoiseKey& key, std::int64_t first, std::size_t count) {
  std::vector<float> out(count);
  fill_normal(key, first, out);
  return out;
}

std::string hash_of(const std::vector<float>& values) {
  return sha256_hex(std::as_bytes(std::span(values)));
}

// Known answers of the paper's own distribution (Random123, kat_vectors).
TEST(Philox, KnownAnswers) {
  EXPECT_EQ(philox_4x32_10({0, 0, 0, 0}, {0, 0}),
            (Words{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  EXPECT_EQ(
      philox_4x32_10({0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff}, {0xffffffff, 0xffffffff}),
      (Words{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(
      philox_4x32_10({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}),
      (Words{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

// Bound: half an ulp each for m + 1, the quotient and the last sum, and small change: about 2 ulp
// of 2.2e-16. The reference is the library's 64-bit-mantissa logarithm.
TEST(NoiseFunctions, LogarithmIsWithin1e15) {
  const auto expect_close = [](double u) {
    const long double expected = std::log(static_cast<long double>(u));
    ASSERT_LE(std::fabs(noise_log(u) - expected), 1e-15L * std::fabs(expected)) << u;
  };
  EXPECT_EQ(noise_log(1.0), 0.0);
  for (int i = 1; i < 200000; ++i) {
    expect_close(i / 200000.0);
  }
  for (int exponent = 1; exponent <= 53; ++exponent) {
    const double power = std::ldexp(1.0, -exponent);
    expect_close(power);
    expect_close(1.0 - power);
    expect_close(std::sqrt(0.5) * power);
    expect_close(std::nextafter(std::sqrt(0.5) * power, 0.0));
  }
}

TEST(NoiseFunctions, SineAndCosineAreWithin1e15) {
  constexpr long double kHalfPi = 1.57079632679489661923132169163975144L;
  const auto expect_close = [](double turn) {
    const SineCosine actual = noise_sine_cosine(turn);
    const long double sine = std::sin(turn * kHalfPi);
    const long double cosine = std::cos(turn * kHalfPi);
    ASSERT_LE(std::fabs(actual.sine - sine), 1e-15L * std::fabs(sine)) << turn;
    ASSERT_LE(std::fabs(actual.cosine - cosine), 1e-15L * cosine) << turn;
  };
  for (int i = -100000; i <= 100000; ++i) {
    expect_close(i / 200000.0);
  }
  for (int exponent = 1; exponent <= 53; ++exponent) {
    expect_close(std::ldexp(1.0, -exponent));
  }
}

// From an independent implementation of the mapping in noise.h with library functions: the double
// errors are far below half a float ulp.
TEST(Noise, GoldenHashes) {
  constexpr std::size_t kCount = 65536;
  EXPECT_EQ(hash_of(normals({0, 0, 0}, 0, kCount)),
            "0896e6e48fedd1531f6c3c26b1df146857ffaf40cf83ecb05ca7158c28493355");
  EXPECT_EQ(hash_of(normals({42, 0, 0}, 0, kCount)),
            "c55a27b76efe4760e3854209f538d01e9abb4890822b024d658556cb3e430c9d");
  EXPECT_EQ(hash_of(normals({42, 0, 1}, 0, kCount)),
            "1ed32bc368c37ef5cd5f10241c8faf78ff81ec4c1df072516134128c8fc00841");
  EXPECT_EQ(hash_of(normals({42, 1, 0}, 0, kCount)),
            "6c270324eeed526be3f7a5a89c066e791ac8f4d3ff6775bbb7885074af88fe41");
  const NoiseKey every_word{0xFEDCBA9876543210, 0xFFFFFFFF, 0xFFFFFFFF};
  EXPECT_EQ(hash_of(normals(every_word, (std::int64_t{1} << 33) + 1, kCount)),
            "d176747ccc87641728dd3c6e2b7a8ac04890b5cf6e5111c6b56eb66467b3528b");
}

TEST(Noise, PiecesAreTheWhole) {
  const NoiseKey key{7, 3, 11};
  const std::vector<float> whole = normals(key, 0, 1000);
  for (const std::size_t piece : {1U, 2U, 3U, 64U, 333U}) {
    std::vector<float> joined(whole.size());
    for (std::size_t at = 0; at < joined.size(); at += piece) {
      const std::size_t count = std::min(piece, joined.size() - at);
      fill_normal(key, static_cast<std::int64_t>(at), std::span(joined).subspan(at, count));
    }
    EXPECT_EQ(joined, whole) << piece;
  }
  EXPECT_TRUE(normals(key, 5, 0).empty());
}

TEST(Noise, AnyTeamGivesTheSame) {
  const NoiseKey key{7, 3, 11};
  for (const std::size_t count : {std::size_t{1}, std::size_t{65537}, std::size_t{200001}}) {
    const std::vector<float> whole = normals(key, 0, count);
    for (const int threads : {1, 2, 3}) {
      std::vector<float> shared(count);
      fill_normal(key, shared, ThreadTeam(threads));
      EXPECT_EQ(shared, whole) << count << " values, " << threads << " threads";
    }
  }
}

TEST(NoiseDeathTest, IndexMustNotBeNegative) {
  std::vector<float> out(1);
  EXPECT_DEATH(fill_normal({}, -1, out), "noise index below zero");
}

// Statistics of a million draws. The stream is fixed, so these never flicker; bounds are 4 standard
// errors of the estimate for true normals (1 in 16000).
class NoiseStatistics : public testing::Test {
 protected:
  static constexpr std::size_t kCount = 1000000;
  static constexpr double kErrors = 4.0;

  static double moment(const std::vector<float>& values, int power) {
    return std::accumulate(
               values.begin(), values.end(), 0.0,
               [power](double sum, double value) { return sum + std::pow(value, power); }) /
           static_cast<double>(values.size());
  }
  // Of standard normals, with `lag` between a's and b's elements.
  static double correlation(const std::vector<float>& a, const std::vector<float>& b,
                            std::size_t lag) {
    double sum = 0.0;
    for (std::size_t i = 0; i + lag < a.size(); ++i) {
      sum += static_cast<double>(a[i]) * b[i + lag];
    }
    return sum / static_cast<double>(a.size() - lag);
  }
  static double error(double variance) { return kErrors * std::sqrt(variance / kCount); }
};

TEST_F(NoiseStatistics, MomentsAreNormal) {
  const std::vector<float> values = normals({1, 0, 0}, 0, kCount);
  EXPECT_NEAR(moment(values, 1), 0.0, error(1));
  EXPECT_NEAR(moment(values, 2), 1.0, error(2));
  EXPECT_NEAR(moment(values, 3), 0.0, error(15));
  EXPECT_NEAR(moment(values, 4), 3.0, error(96));
  EXPECT_NEAR(moment(values, 6), 15.0, error(10170));
}

// Kolmogorov-Smirnov: sqrt(n) D exceeds 1.95 once in a thousand streams. Even and odd elements come
// from different functions, so each kind must pass alone.
TEST_F(NoiseStatistics, DistributionIsNormal) {
  const std::vector<float> values = normals({2, 0, 0}, 0, kCount);
  for (const std::size_t parity : {0U, 1U}) {
    std::vector<double> half;
    for (std::size_t i = parity; i < values.size(); i += 2) {
      half.push_back(values[i]);
    }
    std::sort(half.begin(), half.end());
    const auto n = static_cast<double>(half.size());
    double distance = 0.0;
    for (std::size_t i = 0; i < half.size(); ++i) {
      const double cdf = 0.5 * std::erfc(-half[i] / std::sqrt(2.0));
      distance = std::max({distance, std::fabs(cdf - static_cast<double>(i) / n),
                           std::fabs(cdf - static_cast<double>(i + 1) / n)});
    }
    EXPECT_LT(std::sqrt(n) * distance, 1.95) << "parity " << parity;
  }
}

TEST_F(NoiseStatistics, NeighboursAreUncorrelated) {
  const std::vector<float> values = normals({3, 0, 0}, 0, kCount);
  std::vector<float> squares(values.size());
  std::transform(values.begin(), values.end(), squares.begin(),
                 [](float v) { return (v * v - 1.0F) / std::sqrt(2.0F); });
  for (const std::size_t lag : {1U, 2U, 3U, 128U, 16384U}) {
    EXPECT_NEAR(correlation(values, values, lag), 0.0, error(1)) << lag;
    EXPECT_NEAR(correlation(squares, squares, lag), 0.0, error(1)) << "squares " << lag;
  }
}

TEST_F(NoiseStatistics, SeedsSamplesAndStreamsAreIndependent) {
  const std::vector<float> base = normals({4, 0, 0}, 0, kCount);
  for (const NoiseKey& key : {NoiseKey{5, 0, 0}, NoiseKey{4ULL | (1ULL << 32), 0, 0},
                              NoiseKey{4, 1, 0}, NoiseKey{4, 0, 1}}) {
    const std::vector<float> other = normals(key, 0, kCount);
    EXPECT_NEAR(correlation(base, other, 0), 0.0, error(1));
    EXPECT_NEAR(correlation(base, other, 1), 0.0, error(1));
  }
}

}  // namespace
}  // namespace mezzotint
