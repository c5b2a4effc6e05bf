// For ISA files only: a tile of a matrix product in registers. Lanes hold output channels; each
// weight vector serves kTilePositions positions, each input value all vectors of the panel.
#pragma once

#include "backend/cpu/kernels/moment_sums-inl.h"
#include "backend/cpu/kernels/panel_output.h"
#include "backend/cpu/kernels/vectors-inl.h"

namespace mezzotint::kernels {
namespace {

// 6 x 4 sums, 4 weights and an input fit into 32 registers, 6 x 2 with 2 weights into 16; 24 or 12
// independent sums hide the latency of 4 at two multiply-adds per cycle.
constexpr int kTilePositions = 6;
constexpr int kPanelVectors = HWY_TARGET == HWY_AVX2 ? 2 : 4;
constexpr std::int64_t kPanelChannels = kPanelVectors * kLanes;

// What the positions of a tile read. Positions beyond the last read what the last does.
struct TileInputs {
  const float* of[kTilePositions];

  // Position i of a row reads from x + i * stride on; the tile begins at `first` of `positions`.
  HWY_INLINE TileInputs(const float* x, std::int64_t stride, std::int64_t first,
                        std::int64_t positions) {
    for (std::int64_t p = 0; p < kTilePositions; ++p) {
      of[p] = x + (first + p < positions ? first + p : positions - 1) * stride;
    }
  }
};

template <int kVectors>
struct Tile {
  FloatVector sums[kTilePositions][kVectors];

  HWY_INLINE void clear() {
    for (auto& of_position : sums) {
      for (FloatVector& sum : of_position) {
        sum = hn::Zero(kFloats);
      }
    }
  }

  // Adds, in order, the products of x.of[p][k] and weights[k * kPanelChannels ...] for k < depth.
  HWY_INLINE void multiply(const TileInputs& x, const float* weights, std::int64_t depth) {
    for (std::int64_t k = 0; k < depth; ++k) {
      FloatVector weight[kVectors];
      for (int v = 0; v < kVectors; ++v) {
        weight[v] = hn::LoadU(kFloats, weights + k * kPanelChannels + v * kLanes);
      }
      for (int p = 0; p < kTilePositions; ++p) {
        const FloatVector value = hn::Set(kFloats, x.of[p][k]);
        for (int v = 0; v < kVectors; ++v) {
          sums[p][v] = hn::MulAdd(value, weight[v], sums[p][v]);
        }
      }
    }
  }
};

// Stores the first `count` positions of one vector of channels, which begins at channel c.
template <typename Access>
HWY_INLINE void store_channels(const FloatVector (&sums)[kTilePositions], const PanelOutput& to,
                               std::int64_t first, std::int64_t c, int count,
                               const Access& access) {
  const FloatVector constant = hn::LoadU(kFloats, to.constants + c);
  FloatVector values[kTilePositions];
  for (int p = 0; p < kTilePositions; ++p) {
    values[p] = hn::Add(sums[p], constant);
  }
  float* out = to.out + to.offset + first * to.stride + c;
  if (to.residual != nullptr) {
    const float* residual = to.residual + to.offset + first * to.stride + c;
    for (int p = 0; p < kTilePositions; ++p) {
      if (p < count) {
        values[p] = hn::Add(values[p], access.load(residual + p * to.stride));
      }
    }
  }
  for (int p = 0; p < kTilePositions; ++p) {
    if (p < count) {
      access.store(values[p], out + p * to.stride);
    }
  }
  if (to.sums != nullptr) {
    MomentSums moments(to.sums + c, to.squares + c);
    for (int p = 0; p < kTilePositions; ++p) {
      if (p < count) {
        moments.add(values[p]);
      }
    }
    moments.store();
  }
}

template <int kVectors>
HWY_INLINE void store_tile(const Tile<kVectors>& tile, const PanelOutput& to, std::int64_t first,
                           std::int64_t positions) {
  const auto count =
      static_cast<int>(positions - first < kTilePositions ? positions - first : kTilePositions);
  for (int v = 0; v < kVectors; ++v) {
    FloatVector sums[kTilePositions];
    for (int p = 0; p < kTilePositions; ++p) {
      sums[p] = tile.sums[p][v];
    }
    const std::int64_t c = v * kLanes;
    if (to.channels - c >= kLanes) {
      store_channels(sums, to, first, c, count, Whole{});
    } else {
      store_channels(sums, to, first, c, count, Part(to.channels - c));
    }
  }
}

template <int kValue>
struct VectorCount {
  constexpr int operator()() const { return kValue; }
};

// Calls body(VectorCount<n>) for the n vectors that hold a panel's channels.
template <typename Body>
HWY_INLINE void for_panel_vectors(std::int64_t channels, const Body& body) {
  if constexpr (kPanelVectors == 4) {
    if (channels > 3 * kLanes) {
      body(VectorCount<4>{});
      return;
    }
    if (channels > 2 * kLanes) {
      body(VectorCount<3>{});
      return;
    }
  }
  if (channels > kLanes) {
    body(VectorCount<2>{});
  } else {
    body(VectorCount<1>{});
  }
}

}  // namespace
}  // namespace mezzotint::kernels
