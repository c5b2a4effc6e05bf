// For ISA files only: the one-dimensional transforms on vectors, with the fewest operations.
// matrices.h has them as matrices.
#pragma once

#include "backend/cpu/kernels/conv_winograd/matrices.h"
#include "backend/cpu/kernels/vectors-inl.h"

namespace mezzotint::kernels {
namespace {

// Points +p and -p share their even and odd parts, so results come in pairs.
struct Pair {
  FloatVector first;
  FloatVector second;
};

struct Tile2 {
  static constexpr int kOutputs = 2;
  static constexpr int kInputs = 4;
  static constexpr int kCoarseInputs = 3;  // that lie around kInputs of a doubled axis
  static constexpr int kPairs = 2;
  static constexpr int kPositions[kPairs][2] = {{1, 2}, {0, 3}};

  template <int kPair, typename Load>
  static HWY_INLINE Pair forward_pair(const Load& load) {
    if constexpr (kPair == 0) {
      const FloatVector d1 = load(1);
      const FloatVector d2 = load(2);
      // Node polynomials x (x + 1) and x (x - 1).
      return {hn::Add(d2, d1), hn::Sub(d2, d1)};
    } else {
      return {hn::Sub(load(2), load(0)), hn::Sub(load(3), load(1))};
    }
  }

  static HWY_INLINE void inverse(const FloatVector* m, FloatVector* y) {
    y[0] = hn::Add(m[0], hn::Add(m[1], m[2]));
    y[1] = hn::Add(hn::Sub(m[1], m[2]), m[3]);
  }
};

struct Tile4 {
  static constexpr int kOutputs = 4;
  static constexpr int kInputs = 6;
  static constexpr int kCoarseInputs = 4;
  static constexpr int kPairs = 3;
  static constexpr int kPositions[kPairs][2] = {{1, 2}, {3, 4}, {0, 5}};
  static constexpr double kA = kInnerPoint4;
  static constexpr double kB = kOuterPoint4;

  static HWY_INLINE FloatVector constant(double value) {
    return hn::Set(kFloats, static_cast<float>(value));
  }

  // x (x + p) (x^2 - q^2) and x (x - p) (x^2 - q^2).
  template <typename Load>
  static HWY_INLINE Pair around(double p, double q, const Load& load) {
    const FloatVector even = hn::NegMulAdd(constant(q * q), load(2), load(4));
    const FloatVector odd = hn::NegMulAdd(constant(q * q), load(1), load(3));
    return {hn::MulAdd(constant(p), odd, even), hn::NegMulAdd(constant(p), odd, even)};
  }

  template <int kPair, typename Load>
  static HWY_INLINE Pair forward_pair(const Load& load) {
    if constexpr (kPair == 0) {
      return around(kA, kB, load);
    } else if constexpr (kPair == 1) {
      return around(kB, kA, load);
    } else {
      // (x^2 - a^2) (x^2 - b^2), and the same times x.
      const FloatVector sum = constant(kA * kA + kB * kB);
      const FloatVector product = constant(kA * kA * kB * kB);
      return {hn::MulAdd(product, load(0), hn::NegMulAdd(sum, load(2), load(4))),
              hn::MulAdd(product, load(1), hn::NegMulAdd(sum, load(3), load(5)))};
    }
  }

  static HWY_INLINE void inverse(const FloatVector* m, FloatVector* y) {
    const FloatVector inner_sum = hn::Add(m[1], m[2]);
    const FloatVector inner_difference = hn::Sub(m[1], m[2]);
    const FloatVector outer_sum = hn::Add(m[3], m[4]);
    const FloatVector outer_difference = hn::Sub(m[3], m[4]);
    y[0] = hn::Add(hn::Add(m[0], inner_sum), outer_sum);
    y[1] = hn::MulAdd(constant(kB), outer_difference, hn::Mul(constant(kA), inner_difference));
    y[2] = hn::MulAdd(constant(kB * kB), outer_sum, hn::Mul(constant(kA * kA), inner_sum));
    y[3] = hn::MulAdd(constant(kB * kB * kB), outer_difference,
                      hn::MulAdd(constant(kA * kA * kA), inner_difference, m[5]));
  }
};

// All of a line: results in the order of matrices.h.
template <class Tile>
HWY_INLINE void forward(const FloatVector* d, FloatVector* out) {
  const auto load = [d](int i) HWY_ATTR { return d[i]; };
  const auto put = [out](const int(&positions)[2], const Pair& pair) HWY_ATTR {
    out[positions[0]] = pair.first;
    out[positions[1]] = pair.second;
  };
  put(Tile::kPositions[0], Tile::template forward_pair<0>(load));
  put(Tile::kPositions[1], Tile::template forward_pair<1>(load));
  if constexpr (Tile::kPairs > 2) {
    put(Tile::kPositions[2], Tile::template forward_pair<2>(load));
  }
}

}  // namespace
}  // namespace mezzotint::kernels
