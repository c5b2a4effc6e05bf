// The tiles of a volume: where each begins, and how much of each exists.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "backend/cpu/kernels/conv_winograd/contract.h"
#include "backend/cpu/kernels/conv_winograd/matrices.h"

namespace mezzotint::kernels {

// Along D, H, W: a tile's, or an element's.
struct TilePosition {
  std::int64_t z = 0;
  std::int64_t y = 0;
  std::int64_t x = 0;
};

class TileGrid {
 public:
  // extents: of the outputs.
  TileGrid(WinogradTile tile, const std::array<std::int64_t, 3>& extents);

  [[nodiscard]] std::int64_t outputs() const { return matrices_.outputs; }
  [[nodiscard]] std::int64_t inputs() const { return matrices_.inputs; }
  [[nodiscard]] std::int64_t positions() const { return inputs() * inputs() * inputs(); }
  [[nodiscard]] std::int64_t tiles() const { return counts_[0] * counts_[1] * counts_[2]; }
  [[nodiscard]] std::int64_t tiles_along(std::size_t axis) const { return counts_[axis]; }

  // Tiles are numbered along x first.
  [[nodiscard]] TilePosition position(std::int64_t tile) const;
  [[nodiscard]] TilePosition first_input(const TilePosition& tile) const;
  // Which of its inputs exist along an axis, counted from its first one.
  [[nodiscard]] WinogradRange existing_inputs(std::size_t axis, std::int64_t tile) const;
  // How many of its outputs exist along an axis.
  [[nodiscard]] std::int64_t valid_outputs(std::size_t axis, std::int64_t tile) const;

  // Where the inputs are a trilinear doubling of a coarse grid: a tile needs coarse_inputs() per
  // axis, from first_coarse_input on (which may lie outside: outside is the nearest one's value),
  // and lift() takes them into the Winograd domain. It is B^T times the interpolation, [inputs]
  // [coarse_inputs], with zeros for the padding, which follows the doubling.
  [[nodiscard]] std::int64_t coarse_inputs() const { return outputs() / 2 + 2; }
  [[nodiscard]] TilePosition first_coarse_input(const TilePosition& tile) const;
  [[nodiscard]] const float* lift(std::size_t axis, std::int64_t tile) const;

 private:
  WinogradMatrices matrices_;
  std::array<std::int64_t, 3> extents_;
  std::array<std::int64_t, 3> counts_{};
  std::array<std::vector<float>, 3> lifts_;
};

}  // namespace mezzotint::kernels
