// For ISA files only: inputs into the Winograd domain.
#pragma once

#include "backend/cpu/kernels/conv_winograd/contract.h"
#include "backend/cpu/kernels/conv_winograd/tiles-inl.h"
#include "backend/cpu/kernels/silu-inl.h"

namespace mezzotint::kernels {
namespace {

template <typename Access>
HWY_INLINE FloatVector prepared(const WinogradStage& s, const Access& access, const float* p) {
  FloatVector x = access.load(p);
  if (s.scale != nullptr) {
    x = hn::MulAdd(x, hn::LoadU(kFloats, s.scale), hn::LoadU(kFloats, s.shift));
    if (s.silu) {
      x = silu(x);
    }
  }
  return x;
}

HWY_INLINE std::int64_t clamp_to(std::int64_t value, std::int64_t low, std::int64_t high) {
  return value < low ? low : value > high ? high : value;
}

HWY_INLINE void stage_constant(FloatVector value, std::int64_t count, float* staged) {
  for (std::int64_t x = 0; x < count; ++x) {
    hn::StoreU(value, kFloats, staged + x * kLanes);
  }
}

// Each row of the box has positions before the source's row, in it, and after it.
template <typename Access>
HWY_INLINE void stage_with(const WinogradStage& s, const Access& access, float* staged) {
  const auto nearest = [&](std::int64_t i, std::int64_t extent) {
    return s.clamp ? clamp_to(i, 0, extent - 1) : i;
  };
  const std::int64_t begin = clamp_to(-s.x, 0, s.box_width);
  const std::int64_t end = clamp_to(s.width - s.x, begin, s.box_width);
  for (std::int64_t z = s.z; z < s.z + s.box_depth; ++z) {
    for (std::int64_t y = s.y; y < s.y + s.box_height; ++y, staged += s.box_width * kLanes) {
      const std::int64_t from_z = nearest(z, s.depth);
      const std::int64_t from_y = nearest(y, s.height);
      if (from_z < 0 || from_z >= s.depth || from_y < 0 || from_y >= s.height) {
        stage_constant(hn::Zero(kFloats), s.box_width, staged);
        continue;
      }
      const float* row = s.source + (from_z * s.height + from_y) * s.width * s.channels;
      const float* from = row + (s.x + begin) * s.channels;
      for (std::int64_t x = begin; x < end; ++x, from += s.channels) {
        hn::StoreU(prepared(s, access, from), kFloats, staged + x * kLanes);
      }
      const auto outside = [&](std::int64_t x) HWY_ATTR {
        return s.clamp ? prepared(s, access, row + x * s.channels) : hn::Zero(kFloats);
      };
      stage_constant(outside(0), begin, staged);
      stage_constant(outside(s.width - 1), s.box_width - end, staged + end * kLanes);
    }
  }
}

// Lanes beyond those that exist load as zero; scale and shift are zero there, too.
void stage(const WinogradStage& s, float* staged) {
  if (s.lanes == kLanes) {
    stage_with(s, Whole{}, staged);
  } else {
    stage_with(s, Part(s.lanes), staged);
  }
}

// One plane of a tile along x, then y, in three passes over its rows: what a pass keeps fits into
// 32 registers, and rows come from L1 again at no cost.
template <class Tile, int kPair>
HWY_INLINE void transform_plane_pair(const float* plane, std::int64_t stride_y,
                                     std::int64_t stride_x, FloatVector* out) {
  constexpr int kSide = Tile::kInputs;
  FloatVector first[kSide];
  FloatVector second[kSide];
  for (int y = 0; y < kSide; ++y) {
    const float* row = plane + y * stride_y;
    const auto load = [&](int x) HWY_ATTR { return hn::LoadU(kFloats, row + x * stride_x); };
    const Pair pair = Tile::template forward_pair<kPair>(load);
    first[y] = pair.first;
    second[y] = pair.second;
  }
  FloatVector column[kSide];
  forward<Tile>(first, column);
  for (int y = 0; y < kSide; ++y) {
    out[y * kSide + Tile::kPositions[kPair][0]] = column[y];
  }
  forward<Tile>(second, column);
  for (int y = 0; y < kSide; ++y) {
    out[y * kSide + Tile::kPositions[kPair][1]] = column[y];
  }
}

// Keeps the compiler from merging passes, whose values would not fit into the registers.
HWY_INLINE void end_pass() {
  asm volatile("" ::: "memory");
}

template <class Tile>
HWY_INLINE void store_columns(const FloatVector (*planes)[Tile::kInputs * Tile::kInputs],
                              float* out, std::int64_t position_stride) {
  constexpr int kSide = Tile::kInputs;
  for (int i = 0; i < kSide * kSide; ++i) {
    FloatVector line[kSide];
    FloatVector column[kSide];
    for (int z = 0; z < kSide; ++z) {
      line[z] = planes[z][i];
    }
    forward<Tile>(line, column);
    for (int z = 0; z < kSide; ++z) {
      hn::StoreU(column[z], kFloats, out + (z * kSide * kSide + i) * position_stride);
    }
  }
}

template <class Tile>
void transform(const WinogradInput& in) {
  constexpr int kSide = Tile::kInputs;
  FloatVector planes[kSide][kSide * kSide];
  for (std::int64_t v = 0; v < in.vectors; ++v) {
    const float* origin = in.origin + v * in.vector_stride;
    for (int z = 0; z < kSide; ++z) {
      if (in.prefetch != nullptr) {
        const float* ahead = in.prefetch + v * in.vector_stride + z * in.stride_z;
        for (int y = 0; y < kSide; ++y) {
          for (int x = 0; x < Tile::kOutputs; ++x) {
            __builtin_prefetch(ahead + y * in.stride_y + x * in.stride_x, 0, 2);
          }
        }
      }
      const float* plane = origin + z * in.stride_z;
      transform_plane_pair<Tile, 0>(plane, in.stride_y, in.stride_x, planes[z]);
      end_pass();
      transform_plane_pair<Tile, 1>(plane, in.stride_y, in.stride_x, planes[z]);
      end_pass();
      if constexpr (Tile::kPairs > 2) {
        transform_plane_pair<Tile, 2>(plane, in.stride_y, in.stride_x, planes[z]);
        end_pass();
      }
    }
    store_columns<Tile>(planes, in.out + v * kLanes, in.position_stride);
  }
}

// out[i] = sum over j of matrix[i][j] line[j].
template <class Tile>
HWY_INLINE void lift(const float* matrix, const FloatVector* line, FloatVector* out) {
  constexpr int kCoarse = Tile::kCoarseInputs;
  for (int i = 0; i < Tile::kInputs; ++i) {
    FloatVector sum = hn::Mul(hn::Set(kFloats, matrix[i * kCoarse]), line[0]);
    for (int j = 1; j < kCoarse; ++j) {
      sum = hn::MulAdd(hn::Set(kFloats, matrix[i * kCoarse + j]), line[j], sum);
    }
    out[i] = sum;
  }
}

// From the coarse grid: interpolation and B^T are one matrix per axis, so the doubled source never
// exists, and a tile reads 64 values instead of 216 (F(4)).
template <class Tile>
void transform_doubled(const WinogradInput& in) {
  constexpr int kSide = Tile::kInputs;
  constexpr int kCoarse = Tile::kCoarseInputs;
  for (std::int64_t v = 0; v < in.vectors; ++v) {
    const float* origin = in.origin + v * in.vector_stride;
    FloatVector planes[kCoarse][kSide * kSide];
    for (int z = 0; z < kCoarse; ++z) {
      FloatVector rows[kCoarse][kSide];
      for (int y = 0; y < kCoarse; ++y) {
        FloatVector line[kCoarse];
        for (int x = 0; x < kCoarse; ++x) {
          line[x] =
              hn::LoadU(kFloats, origin + z * in.stride_z + y * in.stride_y + x * in.stride_x);
        }
        lift<Tile>(in.lift[2], line, rows[y]);
      }
      for (int x = 0; x < kSide; ++x) {
        FloatVector line[kCoarse];
        FloatVector column[kSide];
        for (int y = 0; y < kCoarse; ++y) {
          line[y] = rows[y][x];
        }
        lift<Tile>(in.lift[1], line, column);
        for (int y = 0; y < kSide; ++y) {
          planes[z][y * kSide + x] = column[y];
        }
      }
    }
    for (int i = 0; i < kSide * kSide; ++i) {
      FloatVector line[kCoarse];
      FloatVector column[kSide];
      for (int z = 0; z < kCoarse; ++z) {
        line[z] = planes[z][i];
      }
      lift<Tile>(in.lift[0], line, column);
      for (int z = 0; z < kSide; ++z) {
        hn::StoreU(column[z], kFloats,
                   in.out + v * kLanes + (z * kSide * kSide + i) * in.position_stride);
      }
    }
  }
}

}  // namespace
}  // namespace mezzotint::kernels
