// Body of the ISA files.
#pragma once

#include "backend/cpu/kernels/conv_few_inputs/contract.h"
#include "backend/cpu/kernels/gemm-inl.h"

namespace mezzotint::kernels {
namespace {

template <int kVectors>
void conv_row(const ConvFewInputsRow& row, const PanelOutput& to) {
  const std::int64_t depth = 3 * row.channels;
  for (std::int64_t x = 0; x < row.width; x += kTilePositions) {
    Tile<kVectors> tile;
    tile.clear();
    for (std::int64_t r = 0; r < 9; ++r) {
      tile.multiply(TileInputs(row.rows[r], row.channels, x, row.width),
                    row.weights + r * depth * kPanelChannels, depth);
    }
    store_tile(tile, to, x, row.width);
  }
}

void conv_panel_row(const ConvFewInputsRow& row, const PanelOutput& to) {
  for_panel_vectors(to.channels, [&](auto vectors) HWY_ATTR { conv_row<vectors()>(row, to); });
}

constexpr ConvFewInputsKernels kConvFewInputs{kPanelChannels, conv_panel_row};

}  // namespace
}  // namespace mezzotint::kernels
