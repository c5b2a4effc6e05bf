// Body of the ISA files.
#pragma once

#include "backend/cpu/kernels/conv_few/contract.h"
#include "backend/cpu/kernels/vectors-inl.h"

namespace mezzotint::kernels {
namespace {

// kTile neighbouring results of kOutputs channels. Each input vector is loaded once for the three
// taps along the row: kTile + 2 loads serve 3 * kTile multiply-adds per output channel.
template <int kOutputs, int kTile>
HWY_INLINE void conv_tile(const ConvFewRow& row, std::int64_t x0, float* out) {
  FloatVector sums[kOutputs][kTile];
  for (auto& of_output : sums) {
    for (auto& sum : of_output) {
      sum = hn::Zero(kFloats);
    }
  }
  for (std::int64_t r = 0; r < 9; ++r) {
    if (row.rows[r] == nullptr) {
      continue;
    }
    const float* positions[kTile + 2];
    for (std::int64_t j = 0; j < kTile + 2; ++j) {
      const std::int64_t x = x0 - 1 + j;
      positions[j] = x >= 0 && x < row.width ? row.rows[r] + x * row.channels : row.zeros;
    }
    for_each_vector(row.channels, [&](std::int64_t c, const auto& access) HWY_ATTR {
      FloatVector weights[kOutputs][3];
      for (std::int64_t o = 0; o < kOutputs; ++o) {
        for (std::int64_t dx = 0; dx < 3; ++dx) {
          weights[o][dx] =
              hn::LoadU(kFloats, row.weights + ((o * 9 + r) * 3 + dx) * row.channel_stride + c);
        }
      }
      for (int j = 0; j < kTile + 2; ++j) {
        const FloatVector value = access.load(positions[j] + c);
        for (int dx = 0; dx < 3; ++dx) {
          const int x = j - dx;
          if (x >= 0 && x < kTile) {
            for (int o = 0; o < kOutputs; ++o) {
              sums[o][x] = hn::MulAdd(value, weights[o][dx], sums[o][x]);
            }
          }
        }
      }
    });
  }
  const std::int64_t valid = row.width - x0 < kTile ? row.width - x0 : kTile;
  for (std::int64_t x = 0; x < valid; ++x) {
    for (std::int64_t o = 0; o < kOutputs; ++o) {
      out[(x0 + x) * row.position_step + o * row.output_step] =
          hn::GetLane(hn::SumOfLanes(kFloats, sums[o][x])) + row.bias[o];
    }
  }
}

template <int kOutputs, int kTile>
void conv_row(const ConvFewRow& row, float* out) {
  for (std::int64_t x = 0; x < row.width; x += kTile) {
    conv_tile<kOutputs, kTile>(row, x, out);
  }
}

// Sums, weights and one operand fit into 32 registers, on AVX2 into 16 (but for 3 and 4 outputs,
// whose weights come from memory).
#if HWY_TARGET == HWY_AVX2
constexpr ConvFewKernels kConvFew{{conv_row<1, 8>, conv_row<2, 4>, conv_row<3, 4>, conv_row<4, 2>}};
#else
constexpr ConvFewKernels kConvFew{{conv_row<1, 8>, conv_row<2, 8>, conv_row<3, 4>, conv_row<4, 4>}};
#endif

}  // namespace
}  // namespace mezzotint::kernels
