// For ISA files only: products into outputs.
#pragma once

#include <hwy/cache_control.h>

#include "backend/cpu/kernels/conv_winograd/contract.h"
#include "backend/cpu/kernels/conv_winograd/tiles-inl.h"

namespace mezzotint::kernels {
namespace {

// Calls emit(z, y, x, value) for each of a tile's outputs.
template <class Tile, typename Emit>
HWY_INLINE void inverse_tile(const float* products, std::int64_t position_stride,
                             const Emit& emit) {
  constexpr int n = Tile::kInputs;
  constexpr int m = Tile::kOutputs;
  FloatVector planes[m][n * n];
  for (int i = 0; i < n * n; ++i) {
    FloatVector line[n];
    FloatVector column[m];
    for (int z = 0; z < n; ++z) {
      const float* product = products + (z * n * n + i) * position_stride;
      line[z] = hn::LoadU(kFloats, product);
      __builtin_prefetch(product + kLanes, 0, 3);  // the next vector of channels
    }
    Tile::inverse(line, column);
    for (int z = 0; z < m; ++z) {
      planes[z][i] = column[z];
    }
  }
  for (int z = 0; z < m; ++z) {
    FloatVector rows[n][m];
    for (int y = 0; y < n; ++y) {
      Tile::inverse(&planes[z][y * n], rows[y]);
    }
    for (int x = 0; x < m; ++x) {
      FloatVector line[n];
      FloatVector column[m];
      for (int y = 0; y < n; ++y) {
        line[y] = rows[y][x];
      }
      Tile::inverse(line, column);
      for (int y = 0; y < m; ++y) {
        emit(z, y, x, column[y]);
      }
    }
  }
}

// Sums of a tile's values about the first of them, in float32: deviations within a tile are small
// beside a large mean.
struct TileSums {
  FloatVector origin = hn::Zero(kFloats);
  FloatVector sum = hn::Zero(kFloats);
  FloatVector square = hn::Zero(kFloats);

  HWY_INLINE void add(FloatVector value) {
    const FloatVector deviation = hn::Sub(value, origin);
    sum = hn::Add(sum, deviation);
    square = hn::MulAdd(deviation, deviation, square);
  }
};

using Doubles = hn::ScalableTag<double>;
constexpr Doubles kDoubles;
constexpr std::int64_t kDoubleLanes = hn::MaxLanes(kDoubles);
constexpr hn::Rebind<float, Doubles> kHalfFloats;

// n mean and M2 + n mean^2 of a tile's n values, added in double.
HWY_INLINE void add_moments(const TileSums& sums, double count, double* total,
                            std::int64_t stride) {
  HWY_ALIGN float origin[kLanes];
  HWY_ALIGN float sum[kLanes];
  HWY_ALIGN float square[kLanes];
  hn::Store(sums.origin, kFloats, origin);
  hn::Store(sums.sum, kFloats, sum);
  hn::Store(sums.square, kFloats, square);
  const auto n = hn::Set(kDoubles, count);
  const auto inverse = hn::Set(kDoubles, 1.0 / count);
  for (std::int64_t i = 0; i < kLanes; i += kDoubleLanes) {
    const auto s = hn::PromoteTo(kDoubles, hn::Load(kHalfFloats, sum + i));
    const auto q = hn::PromoteTo(kDoubles, hn::Load(kHalfFloats, square + i));
    const auto shift = hn::Mul(s, inverse);
    const auto mean = hn::Add(hn::PromoteTo(kDoubles, hn::Load(kHalfFloats, origin + i)), shift);
    const auto m2 = hn::Max(hn::NegMulAdd(s, shift, q), hn::Zero(kDoubles));
    const auto weighted = hn::Mul(n, mean);
    hn::StoreU(hn::Add(hn::LoadU(kDoubles, total + i), weighted), kDoubles, total + i);
    hn::StoreU(hn::Add(hn::LoadU(kDoubles, total + stride + i), hn::MulAdd(weighted, mean, m2)),
               kDoubles, total + stride + i);
  }
}

// A whole tile and a whole vector of channels.
template <class Tile>
HWY_INLINE void finish_whole(const WinogradOutput& o, std::int64_t c) {
  const FloatVector constant = hn::LoadU(kFloats, o.constants + c);
  TileSums sums;
  const auto emit = [&](int z, int y, int x, FloatVector value) HWY_ATTR {
    const std::int64_t at = z * o.stride_z + y * o.stride_y + x * o.stride_x + c;
    value = hn::Add(value, constant);
    if (o.residual != nullptr) {
      value = hn::Add(value, hn::LoadU(kFloats, o.residual + at));
    }
    if (o.stream) {
      hn::Stream(value, kFloats, o.out + at);
    } else {
      hn::StoreU(value, kFloats, o.out + at);
    }
    if (o.moments != nullptr) {
      if (z == 0 && y == 0 && x == 0) {
        sums.origin = value;
      }
      sums.add(value);
    }
  };
  inverse_tile<Tile>(o.products + c, o.position_stride, emit);
  if (o.moments != nullptr) {
    constexpr double kCount = Tile::kOutputs * Tile::kOutputs * Tile::kOutputs;
    add_moments(sums, kCount, o.moments + c, o.moments_stride);
  }
}

// Tiles over the border, and channels that do not fill a vector.
template <class Tile>
HWY_NOINLINE void finish_part(const WinogradOutput& o, std::int64_t c, std::int64_t lanes) {
  constexpr int m = Tile::kOutputs;
  FloatVector tile[m][m][m];
  inverse_tile<Tile>(o.products + c, o.position_stride,
                     [&](int z, int y, int x, FloatVector value)
                         HWY_ATTR { tile[z][y][x] = value; });
  const FloatVector constant = hn::LoadU(kFloats, o.constants + c);
  const Part part(lanes);
  TileSums sums;
  for (std::int64_t z = 0; z < o.valid_z; ++z) {
    for (std::int64_t y = 0; y < o.valid_y; ++y) {
      for (std::int64_t x = 0; x < o.valid_x; ++x) {
        const std::int64_t at = z * o.stride_z + y * o.stride_y + x * o.stride_x + c;
        FloatVector value = hn::Add(tile[z][y][x], constant);
        if (o.residual != nullptr) {
          value = hn::Add(value, part.load(o.residual + at));
        }
        part.store(value, o.out + at);
        if (z == 0 && y == 0 && x == 0) {
          sums.origin = value;
        }
        sums.add(value);
      }
    }
  }
  if (o.moments != nullptr) {
    const auto count = static_cast<double>(o.valid_z * o.valid_y * o.valid_x);
    add_moments(sums, count, o.moments + c, o.moments_stride);
  }
}

template <class Tile>
void finish(const WinogradOutput& o) {
  const bool whole_tile = o.valid_z == Tile::kOutputs && o.valid_y == Tile::kOutputs &&
                          o.valid_x == Tile::kOutputs;
  for (std::int64_t c = 0; c < o.channels; c += kLanes) {
    if (whole_tile && c + kLanes <= o.channels) {
      finish_whole<Tile>(o, c);
    } else {
      finish_part<Tile>(o, c, o.channels - c < kLanes ? o.channels - c : kLanes);
    }
  }
}

void fence() {
  hwy::FlushStream();
}

}  // namespace
}  // namespace mezzotint::kernels
