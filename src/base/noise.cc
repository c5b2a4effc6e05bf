#include "base/noise.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "base/check.h"

namespace mezzotint {
namespace {

constexpr double kHalfPi = 0x1.921fb54442d18p+0;
constexpr double kSqrtHalf = 0x1.6a09e667f3bcdp-1;
// ln 2 in two parts: the high one has 21 trailing zero bits, so that exponent * high is exact.
constexpr double kLn2High = 0x1.62e42fee00000p-1;
constexpr double kLn2Low = 0x1.a39ef35793c76p-33;

constexpr std::int64_t kBlock = 65536;  // elements per task of a team; even, so no pair is split

// Taylor coefficients, lowest power first, with as many terms as their intervals need for 2^-60.
// Minimax polynomials would save about a third of the terms and explain themselves less.
constexpr std::array<double, 11> kAtanh = {1.0 / 3,  1.0 / 5,  1.0 / 7,  1.0 / 9,
                                           1.0 / 11, 1.0 / 13, 1.0 / 15, 1.0 / 17,
                                           1.0 / 19, 1.0 / 21, 1.0 / 23};
constexpr std::array<double, 8> kSine = {
    -1.0 / 6,        1.0 / 120,        -1.0 / 5040,          1.0 / 362880,
    -1.0 / 39916800, 1.0 / 6227020800, -1.0 / 1307674368000, 1.0 / 355687428096000};
constexpr std::array<double, 8> kCosine = {
    -1.0 / 2,       1.0 / 24,        -1.0 / 720,         1.0 / 40320,
    -1.0 / 3628800, 1.0 / 479001600, -1.0 / 87178291200, 1.0 / 20922789888000};

template <std::size_t kTerms>
double horner(const std::array<double, kTerms>& coefficients, double x) {
  double sum = coefficients[kTerms - 1];
  for (std::size_t i = kTerms - 1; i > 0; --i) {
    sum = sum * x + coefficients[i - 1];
  }
  return sum;
}

// (bits + 1/2) / 2^52 for 52 bits: exact, and strictly between 0 and 1.
double open_unit(std::uint64_t bits52) {
  return (static_cast<double>(bits52) + 0.5) * 0x1p-52;
}

struct NormalPair {
  double even;
  double odd;
};

NormalPair box_muller(std::uint64_t w0, std::uint64_t w1) {
  const double radius = std::sqrt(-2.0 * noise_log(open_unit(w0 >> 12)));
  const SineCosine place = noise_sine_cosine(open_unit((w1 << 2) >> 12) - 0.5);
  const double a = radius * place.cosine;
  const double b = radius * place.sine;
  switch (w1 >> 62) {
    case 0: return {a, b};
    case 1: return {-b, a};
    case 2: return {-a, -b};
    default: return {b, -a};
  }
}

NormalPair normal_pair(const NoiseKey& key, std::uint64_t pair) {
  const auto words = philox_4x32_10(
      {static_cast<std::uint32_t>(pair), static_cast<std::uint32_t>(pair >> 32), key.stream,
       key.sample},
      {static_cast<std::uint32_t>(key.seed), static_cast<std::uint32_t>(key.seed >> 32)});
  return box_muller((std::uint64_t{words[1]} << 32) | words[0],
                    (std::uint64_t{words[3]} << 32) | words[2]);
}

}  // namespace

std::array<std::uint32_t, 4> philox_4x32_10(std::array<std::uint32_t, 4> counter,
                                            std::array<std::uint32_t, 2> key) {
  constexpr std::uint64_t kMultiplier0 = 0xD2511F53;
  constexpr std::uint64_t kMultiplier1 = 0xCD9E8D57;
  constexpr std::uint32_t kWeyl0 = 0x9E3779B9;  // the golden ratio
  constexpr std::uint32_t kWeyl1 = 0xBB67AE85;  // sqrt(3) - 1
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t product0 = kMultiplier0 * counter[0];
    const std::uint64_t product1 = kMultiplier1 * counter[2];
    counter = {static_cast<std::uint32_t>(product1 >> 32) ^ counter[1] ^ key[0],
               static_cast<std::uint32_t>(product1),
               static_cast<std::uint32_t>(product0 >> 32) ^ counter[3] ^ key[1],
               static_cast<std::uint32_t>(product0)};
    key = {key[0] + kWeyl0, key[1] + kWeyl1};
  }
  return counter;
}

// u = m 2^e with m in [sqrt(1/2), sqrt(2)); ln m = 2 atanh(s), s = (m - 1) / (m + 1), |s| <= 0.172.
double noise_log(double u) {
  const auto bits = std::bit_cast<std::uint64_t>(u);
  int exponent = static_cast<int>(bits >> 52) - 1022;
  double mantissa =
      std::bit_cast<double>((bits & 0x000FFFFFFFFFFFFFu) | 0x3FE0000000000000u);  // [1/2, 1)
  if (mantissa < kSqrtHalf) {
    mantissa *= 2.0;
    exponent -= 1;
  }
  const double s = (mantissa - 1.0) / (mantissa + 1.0);
  const double z = s * s;
  const double tail = 2.0 * s * z * horner(kAtanh, z) + exponent * kLn2Low;
  return exponent * kLn2High + (2.0 * s + tail);
}

SineCosine noise_sine_cosine(double turn) {
  const double y = turn * kHalfPi;
  const double z = y * y;
  return {y + y * z * horner(kSine, z), 1.0 + z * horner(kCosine, z)};
}

void fill_normal(const NoiseKey& key, std::int64_t first_index, std::span<float> out) {
  check(first_index >= 0, "noise index below zero");
  std::size_t i = 0;
  auto index = static_cast<std::uint64_t>(first_index);
  if (index % 2 == 1 && !out.empty()) {
    out[i++] = static_cast<float>(normal_pair(key, index++ / 2).odd);
  }
  for (; i + 1 < out.size(); i += 2, index += 2) {
    const NormalPair pair = normal_pair(key, index / 2);
    out[i] = static_cast<float>(pair.even);
    out[i + 1] = static_cast<float>(pair.odd);
  }
  if (i < out.size()) {
    out[i] = static_cast<float>(normal_pair(key, index / 2).even);
  }
}

void fill_normal(const NoiseKey& key, std::span<float> out, const ThreadTeam& team) {
  const auto elements = static_cast<std::int64_t>(out.size());
  team.parallel_for((elements + kBlock - 1) / kBlock, [&](std::int64_t block) {
    const std::int64_t first = block * kBlock;
    const std::int64_t count = std::min(kBlock, elements - first);
    fill_normal(key, first, out.subspan(first, count));
  });
}

}  // namespace mezzotint
