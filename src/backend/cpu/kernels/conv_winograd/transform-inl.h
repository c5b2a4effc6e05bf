// For ISA files only: inputs into the Winograd domain.
#pragma once

#include <algorithm>
#include <type_traits>

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

// Inputs of a row of a tile, from its first that exists on.
struct WholeRow {
  const float* first;
  std::int64_t stride;

  HWY_INLINE FloatVector operator()(int x) const { return hn::LoadU(kFloats, first + x * stride); }
};

// Outside of `xs` inputs are zero.
struct BorderRow {
  const float* first;
  std::int64_t stride;
  WinogradRange xs;

  HWY_INLINE FloatVector operator()(int x) const {
    const bool exists = x >= xs.first && x < xs.end;
    const auto lanes = hn::FirstN(kFloats, exists ? kLanes : 0);
    return hn::MaskedLoad(lanes, kFloats, first + (exists ? x - xs.first : 0) * stride);
  }
};

// Rows of a tile's plane; those outside of `ys` are zero.
struct TilePlane {
  const float* first;  // of the first row that exists
  std::int64_t stride_y;
  std::int64_t stride_x;
  WinogradRange ys;
  WinogradRange xs;

  template <class Row>
  HWY_INLINE Row row(int y) const {
    const float* from = first + (y - ys.first) * stride_y;
    if constexpr (std::is_same_v<Row, WholeRow>) {
      return {from, stride_x};
    } else {
      return {from, stride_x, xs};
    }
  }
};

// One plane of a tile along x, then y, in three passes over its rows: what a pass keeps fits into
// 32 registers, and rows come from L1 again at no cost.
template <class Tile, class Row, int kPair>
HWY_INLINE void transform_plane_pair(const TilePlane& plane, FloatVector* out) {
  constexpr int kSide = Tile::kInputs;
  FloatVector first[kSide];
  FloatVector second[kSide];
  for (int y = 0; y < kSide; ++y) {
    const bool exists = y >= plane.ys.first && y < plane.ys.end;
    const Pair pair = exists ? Tile::template forward_pair<kPair>(plane.row<Row>(y))
                             : Pair{hn::Zero(kFloats), hn::Zero(kFloats)};
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

template <class Tile, class Row>
HWY_INLINE void transform_plane(const TilePlane& plane, FloatVector* out) {
  transform_plane_pair<Tile, Row, 0>(plane, out);
  end_pass();
  transform_plane_pair<Tile, Row, 1>(plane, out);
  end_pass();
  if constexpr (Tile::kPairs > 2) {
    transform_plane_pair<Tile, Row, 2>(plane, out);
    end_pass();
  }
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

template <class Tile, class Row>
void transform(const WinogradInput& in) {
  constexpr int kSide = Tile::kInputs;
  const auto& [zs, ys, xs] = in.existing;
  FloatVector planes[kSide][kSide * kSide];
  for (std::int64_t v = 0; v < in.vectors; ++v) {
    for (int z = 0; z < kSide; ++z) {
      if (z < zs.first || z >= zs.end) {
        std::fill_n(planes[z], kSide * kSide, hn::Zero(kFloats));
        continue;
      }
      const std::int64_t offset = v * in.vector_stride + (z - zs.first) * in.stride_z;
      if (in.prefetch != nullptr) {
        for (std::int64_t y = 0; y < ys.end - ys.first; ++y) {
          for (int x = 0; x < Tile::kOutputs; ++x) {
            __builtin_prefetch(in.prefetch + offset + y * in.stride_y + x * in.stride_x, 0, 2);
          }
        }
      }
      transform_plane<Tile, Row>({in.origin + offset, in.stride_y, in.stride_x, ys, xs}, planes[z]);
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
