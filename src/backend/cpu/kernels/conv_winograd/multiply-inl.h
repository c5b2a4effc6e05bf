// For ISA files only: the products, a small matrix multiplication per position.
#pragma once

#include "backend/cpu/kernels/conv_winograd/contract.h"
#include "backend/cpu/kernels/vectors-inl.h"

namespace mezzotint::kernels {
namespace {

// 6 tiles x 4 vectors of sums, 4 vectors of weights and one broadcast input: 29 of AVX-512's 32
// registers; 24 independent sums hide the latency of two multiply-adds per cycle (8 would do). On
// AVX2 6 x 2, 2 and 1: 15 of 16.
constexpr int kRowBlock = 6;
constexpr int kPanelVectors = HWY_TARGET == HWY_AVX2 ? 2 : 4;

// kFetch: cache lines of the next panel to fetch per channel.
template <int kRows, int kVectors, int kFetch>
HWY_NOINLINE void multiply_rows(const float* HWY_RESTRICT v, const float* HWY_RESTRICT u,
                                std::int64_t channels, float* HWY_RESTRICT m, const float* next) {
  FloatVector sums[kRows][kVectors];
#pragma GCC unroll 8
  for (int i = 0; i < kRows; ++i) {
#pragma GCC unroll 8
    for (int j = 0; j < kVectors; ++j) {
      sums[i][j] = hn::Zero(kFloats);
    }
  }
  for (std::int64_t c = 0; c < channels; ++c) {
    FloatVector weights[kVectors];
#pragma GCC unroll 8
    for (int j = 0; j < kVectors; ++j) {
      weights[j] = hn::LoadU(kFloats, u + (c * kVectors + j) * kLanes);
    }
#pragma GCC unroll 8
    for (int line = 0; line < kFetch; ++line) {
      __builtin_prefetch(next + (c * kFetch + line) * 16, 0, 2);
    }
#pragma GCC unroll 8
    for (int i = 0; i < kRows; ++i) {
      const FloatVector x = hn::Set(kFloats, v[i * channels + c]);
#pragma GCC unroll 8
      for (int j = 0; j < kVectors; ++j) {
        sums[i][j] = hn::MulAdd(x, weights[j], sums[i][j]);
      }
    }
  }
#pragma GCC unroll 8
  for (int i = 0; i < kRows; ++i) {
#pragma GCC unroll 8
    for (int j = 0; j < kVectors; ++j) {
      hn::StoreU(sums[i][j], kFloats, m + (i * kVectors + j) * kLanes);
    }
  }
}

using MultiplyRows = void (*)(const float*, const float*, std::int64_t, float*, const float*);

template <int kVectors, int kFetch>
constexpr MultiplyRows kByRows[kRowBlock] = {
    multiply_rows<1, kVectors, kFetch>, multiply_rows<2, kVectors, kFetch>,
    multiply_rows<3, kVectors, kFetch>, multiply_rows<4, kVectors, kFetch>,
    multiply_rows<5, kVectors, kFetch>, multiply_rows<6, kVectors, kFetch>};

// Row blocks as equal as possible. The first ones fetch the next panel between them: a whole one
// is kVectors * kLanes / 16 lines per channel.
template <int kVectors>
void multiply_panel(const WinogradProduct& p) {
  constexpr int kLines =
      kVectors * static_cast<int>(kLanes) / 16 > 0 ? kVectors * static_cast<int>(kLanes) / 16 : 1;
  const std::int64_t blocks = (p.tiles + kRowBlock - 1) / kRowBlock;
  const bool halved = blocks > 1 && kLines > 1;
  std::int64_t row = 0;
  for (std::int64_t block = 0; block < blocks; ++block) {
    const std::int64_t rows = p.tiles / blocks + (block < p.tiles % blocks ? 1 : 0);
    const float* v = p.v + row * p.channels;
    float* m = p.m + row * kVectors * kLanes;
    const auto index = static_cast<std::size_t>(rows - 1);
    if (halved && block < 2) {
      constexpr int kHalf = kLines > 1 ? kLines / 2 : 1;
      kByRows<kVectors, kHalf>[index](v, p.u, p.channels, m,
                                      p.next + block * p.channels * kHalf * 16);
    } else if (!halved && block == 0) {
      kByRows<kVectors, kLines>[index](v, p.u, p.channels, m, p.next);
    } else {
      kByRows<kVectors, 0>[index](v, p.u, p.channels, m, p.next);
    }
    row += rows;
  }
}

void multiply(const WinogradProduct& product) {
  switch (product.vectors) {
    case 1: return multiply_panel<1>(product);
    case 2: return multiply_panel<2>(product);
#if HWY_TARGET != HWY_AVX2
    case 3: return multiply_panel<3>(product);
    case 4: return multiply_panel<4>(product);
#endif
    default: return;
  }
}

}  // namespace
}  // namespace mezzotint::kernels
