// Body of the ISA files.
#pragma once

#include "backend/cpu/kernels/attention/contract.h"
#include "backend/cpu/kernels/silu-inl.h"
#include "backend/cpu/kernels/vectors-inl.h"

namespace mezzotint::kernels {
namespace {

// Register tile: kTileRows x 2 vectors of sums, two vectors of the panel and a broadcast fill 27 of
// 32 registers on AVX-512, 15 of 16 on AVX2.
constexpr int kTileRows = HWY_TARGET == HWY_AVX2 ? 6 : 12;
constexpr int kTileVectors = 2;
constexpr std::int64_t kPanel = kTileVectors * kLanes;
static_assert(AttentionKernels::kRows % kTileRows == 0);

// c[m][0 .. columns) = scales[m] * sum over k of a[m][k] * panel[k], for m < rows <= kTileRows.
// All kTileRows rows of a are read.
HWY_INLINE void multiply_tile(const float* a, std::int64_t a_stride, const float* panel,
                              std::int64_t depth, const float* scales, std::int64_t rows,
                              std::int64_t columns, float* c, std::int64_t c_stride) {
  FloatVector sums[kTileRows][kTileVectors];
  for (auto& row : sums) {
    for (auto& sum : row) {
      sum = hn::Zero(kFloats);
    }
  }
  for (std::int64_t k = 0; k < depth; ++k) {
    const FloatVector b0 = hn::LoadU(kFloats, panel + k * kPanel);
    const FloatVector b1 = hn::LoadU(kFloats, panel + k * kPanel + kLanes);
    for (int m = 0; m < kTileRows; ++m) {
      const FloatVector value = hn::Set(kFloats, a[m * a_stride + k]);
      sums[m][0] = hn::MulAdd(value, b0, sums[m][0]);
      sums[m][1] = hn::MulAdd(value, b1, sums[m][1]);
    }
  }
  for (int m = 0; m < kTileRows; ++m) {
    if (m < rows) {
      const FloatVector scale = hn::Set(kFloats, scales[m]);
      const FloatVector scaled[kTileVectors] = {hn::Mul(sums[m][0], scale),
                                                hn::Mul(sums[m][1], scale)};
      for_each_vector(columns, [&](std::int64_t i, const auto& access) HWY_ATTR {
        access.store(scaled[i / kLanes], c + m * c_stride + i);
      });
    }
  }
}

// c = diag(scales) a B for packed B of `columns` columns; rows <= AttentionKernels::kRows.
void multiply(const float* a, std::int64_t a_stride, const float* packed, std::int64_t depth,
              std::int64_t columns, const float* scales, std::int64_t rows, float* c,
              std::int64_t c_stride) {
  for (std::int64_t column = 0; column < columns; column += kPanel) {
    const std::int64_t width = columns - column < kPanel ? columns - column : kPanel;
    for (std::int64_t m = 0; m < rows; m += kTileRows) {
      multiply_tile(a + m * a_stride, a_stride, packed + column * depth, depth, scales + m,
                    rows - m, width, c + m * c_stride + column, c_stride);
    }
  }
}

// Replaces scores by e^(score - maximum) and returns the sum of these. NaN passes.
float exponentiate(float* scores, std::int64_t count) {
  FloatVector greatest = hn::Set(kFloats, scores[0]);
  std::int64_t whole = count / kLanes * kLanes;
  for (std::int64_t i = 0; i < whole; i += kLanes) {
    greatest = hn::Max(greatest, hn::LoadU(kFloats, scores + i));
  }
  float maximum = hn::GetLane(hn::MaxOfLanes(kFloats, greatest));
  for (std::int64_t i = whole; i < count; ++i) {
    maximum = scores[i] > maximum ? scores[i] : maximum;
  }
  const FloatVector shift = hn::Set(kFloats, maximum);
  constexpr hn::ScalableTag<double> kDoubles;
  constexpr hn::Half<Floats> kHalf;
  auto sum = hn::Zero(kDoubles);
  for_each_vector(count, [&](std::int64_t i, const auto& access) HWY_ATTR {
    const FloatVector x = hn::Sub(access.load(scores + i), shift);
    const FloatVector power = hn::IfThenElse(hn::Eq(x, x), exponential(x), x);
    access.store(power, scores + i);
    const FloatVector stored = access.load(scores + i);
    sum = hn::Add(sum, hn::Add(hn::PromoteTo(kDoubles, hn::LowerHalf(kHalf, stored)),
                               hn::PromoteTo(kDoubles, hn::UpperHalf(kHalf, stored))));
  });
  return static_cast<float>(hn::GetLane(hn::SumOfLanes(kDoubles, sum)));
}

void attend(const AttentionBlock& block) {
  constexpr std::int64_t kRows = AttentionKernels::kRows;
  const std::int64_t stride = block.score_stride;
  float* queries = block.scratch;
  float* scores = queries + kRows * block.channels;
  // Missing rows are zero, so that whole tiles can be computed.
  for (std::int64_t m = 0; m < kRows; ++m) {
    for (std::int64_t c = 0; c < block.channels; ++c) {
      queries[m * block.channels + c] =
          m < block.rows ? block.queries[m * block.query_stride + c] : 0.0F;
    }
  }
  float scales[kRows];
  for (float& scale : scales) {
    scale = block.scale;
  }
  multiply(queries, block.channels, block.keys, block.channels, block.tokens, scales, kRows, scores,
           stride);
  for (std::int64_t m = 0; m < kRows; ++m) {
    scales[m] = 1.0F / exponentiate(scores + m * stride, block.tokens);
  }
  multiply(scores, stride, block.values, block.tokens, block.channels, scales, block.rows,
           block.out, block.out_stride);
}

constexpr AttentionKernels kAttention{kPanel, attend};

}  // namespace
}  // namespace mezzotint::kernels
