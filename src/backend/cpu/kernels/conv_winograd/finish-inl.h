// For ISA files only: products into outputs.
#pragma once

#include <hwy/cache_control.h>

#include "backend/cpu/kernels/conv_winograd/contract.h"
#include "backend/cpu/kernels/conv_winograd/tiles-inl.h"
#include "backend/cpu/kernels/moment_sums-inl.h"

namespace mezzotint::kernels {
namespace {

// Calls emit(z, y, x, value) for each of a tile's outputs.
template <class Tile, typename Emit>
HWY_INLINE void inverse_tile(const float* products, std::int64_t position_stride,
                             const Emit& emit) {
  constexpr int kSide = Tile::kInputs;
  constexpr int kOutputs = Tile::kOutputs;
  FloatVector planes[kOutputs][kSide * kSide];
  for (int i = 0; i < kSide * kSide; ++i) {
    FloatVector line[kSide];
    FloatVector column[kOutputs];
    for (int z = 0; z < kSide; ++z) {
      const float* product = products + (z * kSide * kSide + i) * position_stride;
      line[z] = hn::LoadU(kFloats, product);
      __builtin_prefetch(product + kLanes, 0, 3);  // the next vector of channels
    }
    Tile::inverse(line, column);
    for (int z = 0; z < kOutputs; ++z) {
      planes[z][i] = column[z];
    }
  }
  for (int z = 0; z < kOutputs; ++z) {
    FloatVector rows[kSide][kOutputs];
    for (int y = 0; y < kSide; ++y) {
      Tile::inverse(&planes[z][y * kSide], rows[y]);
    }
    for (int x = 0; x < kOutputs; ++x) {
      FloatVector line[kSide];
      FloatVector column[kOutputs];
      for (int y = 0; y < kSide; ++y) {
        line[y] = rows[y][x];
      }
      Tile::inverse(line, column);
      for (int y = 0; y < kOutputs; ++y) {
        emit(z, y, x, column[y]);
      }
    }
  }
}

// A whole tile and a whole vector of channels.
template <class Tile, bool kMoments>
HWY_INLINE void finish_whole(const WinogradOutput& o, std::int64_t c) {
  const FloatVector constant = hn::LoadU(kFloats, o.constants + c);
  const auto store = [&](int z, int y, int x, FloatVector value) HWY_ATTR {
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
    return value;
  };
  if constexpr (kMoments) {
    MomentSums moments(o.sums + c, o.squares + c);
    inverse_tile<Tile>(o.products + c, o.position_stride,
                       [&](int z, int y, int x, FloatVector value)
                           HWY_ATTR { moments.add(store(z, y, x, value)); });
    moments.store();
  } else {
    inverse_tile<Tile>(o.products + c, o.position_stride, store);
  }
}

// Tiles over the border, and channels that do not fill a vector.
template <class Tile>
HWY_NOINLINE void finish_part(const WinogradOutput& o, std::int64_t c, std::int64_t lanes) {
  constexpr int kOutputs = Tile::kOutputs;
  FloatVector tile[kOutputs][kOutputs][kOutputs];
  inverse_tile<Tile>(o.products + c, o.position_stride,
                     [&](int z, int y, int x, FloatVector value)
                         HWY_ATTR { tile[z][y][x] = value; });
  const FloatVector constant = hn::LoadU(kFloats, o.constants + c);
  const Part part(lanes);
  const bool measured = o.sums != nullptr;
  HWY_ALIGN double scratch[2 * kLanes] = {};
  MomentSums moments(measured ? o.sums + c : scratch, measured ? o.squares + c : scratch + kLanes);
  for (std::int64_t z = 0; z < o.valid_z; ++z) {
    for (std::int64_t y = 0; y < o.valid_y; ++y) {
      for (std::int64_t x = 0; x < o.valid_x; ++x) {
        const std::int64_t at = z * o.stride_z + y * o.stride_y + x * o.stride_x + c;
        FloatVector value = hn::Add(tile[z][y][x], constant);
        if (o.residual != nullptr) {
          value = hn::Add(value, part.load(o.residual + at));
        }
        part.store(value, o.out + at);
        moments.add(value);
      }
    }
  }
  moments.store();
}

template <class Tile>
void finish(const WinogradOutput& o) {
  const bool whole_tile =
      o.valid_z == Tile::kOutputs && o.valid_y == Tile::kOutputs && o.valid_x == Tile::kOutputs;
  for (std::int64_t c = 0; c < o.channels; c += kLanes) {
    if (!whole_tile || c + kLanes > o.channels) {
      finish_part<Tile>(o, c, o.channels - c < kLanes ? o.channels - c : kLanes);
    } else if (o.sums != nullptr) {
      finish_whole<Tile, true>(o, c);
    } else {
      finish_whole<Tile, false>(o, c);
    }
  }
}

void fence() {
  hwy::FlushStream();
}

}  // namespace
}  // namespace mezzotint::kernels
