// Body of the ISA files.
#pragma once

#include "backend/cpu/kernels/upsample/contract.h"
#include "backend/cpu/kernels/vectors-inl.h"

namespace mezzotint::kernels {
namespace {

// out = 3/4 near + 1/4 far. The first product is exact up to rounding once, the sum rounds once.
HWY_INLINE void lerp(const float* near, const float* far, std::int64_t count, float* out) {
  const FloatVector three_quarters = hn::Set(kFloats, 0.75F);
  const FloatVector quarter = hn::Set(kFloats, 0.25F);
  for_each_vector(count, [&](std::int64_t i, const auto& access) HWY_ATTR {
    const FloatVector mixed = hn::Mul(access.load(far + i), quarter);
    access.store(hn::MulAdd(access.load(near + i), three_quarters, mixed), out + i);
  });
}

// Of one channel: vectors of positions. Those at the ends have a neighbour less.
HWY_INLINE void double_line(const float* x, std::int64_t width, float* out) {
  const FloatVector three_quarters = hn::Set(kFloats, 0.75F);
  const FloatVector quarter = hn::Set(kFloats, 0.25F);
  std::int64_t i = 0;
  const auto double_one = [&]() HWY_ATTR {
    lerp(x + i, i == 0 ? x : x + i - 1, 1, out + 2 * i);
    lerp(x + i, i + 1 == width ? x + i : x + i + 1, 1, out + 2 * i + 1);
    ++i;
  };
  double_one();
  for (; i + kLanes < width; i += kLanes) {
    const FloatVector here = hn::LoadU(kFloats, x + i);
    const FloatVector left = hn::Mul(hn::LoadU(kFloats, x + i - 1), quarter);
    const FloatVector right = hn::Mul(hn::LoadU(kFloats, x + i + 1), quarter);
    hn::StoreInterleaved2(hn::MulAdd(here, three_quarters, left),
                          hn::MulAdd(here, three_quarters, right), kFloats, out + 2 * i);
  }
  while (i < width) {
    double_one();
  }
}

void upsample_row(const UpsampleRow& row, float* mixed, float* out) {
  const FloatVector w0 = hn::Set(kFloats, row.weights[0]);
  const FloatVector w1 = hn::Set(kFloats, row.weights[1]);
  const FloatVector w2 = hn::Set(kFloats, row.weights[2]);
  const FloatVector w3 = hn::Set(kFloats, row.weights[3]);
  const std::int64_t channels = row.channels;
  for_each_vector(row.width * channels, [&](std::int64_t i, const auto& access) HWY_ATTR {
    FloatVector sum = hn::Mul(access.load(row.rows[0] + i), w0);
    sum = hn::MulAdd(access.load(row.rows[1] + i), w1, sum);
    sum = hn::MulAdd(access.load(row.rows[2] + i), w2, sum);
    sum = hn::MulAdd(access.load(row.rows[3] + i), w3, sum);
    access.store(sum, mixed + i);
  });
  if (channels == 1) {
    double_line(mixed, row.width, out);
    return;
  }
  for (std::int64_t x = 0; x < row.width; ++x) {
    const float* here = mixed + x * channels;
    const float* left = x == 0 ? here : here - channels;
    const float* right = x + 1 == row.width ? here : here + channels;
    lerp(here, left, channels, out + 2 * x * channels);
    lerp(here, right, channels, out + (2 * x + 1) * channels);
  }
}

constexpr UpsampleKernels kUpsample{upsample_row};

}  // namespace
}  // namespace mezzotint::kernels
