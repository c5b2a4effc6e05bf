#include "backend/cpu/kernels/conv_winograd/tile_grid.h"

#include <algorithm>

#include "backend/cpu/kernels/implementation.h"

namespace mezzotint::kernels {
namespace {

// Half-pixel centres, as PyTorch's align_corners=False: fine position 2i lies between coarse i - 1
// and i, 2i + 1 between i and i + 1, three times nearer to i.
constexpr double kNear = 0.75;
constexpr double kFar = 0.25;

}  // namespace

TileGrid::TileGrid(WinogradTile tile, const std::array<std::int64_t, 3>& extents)
    : matrices_(winograd_matrices(tile)), extents_(extents) {
  for (std::size_t axis = 0; axis < 3; ++axis) {
    counts_[axis] = ceil_div(extents[axis], outputs());
    for (std::int64_t t = 0; t < counts_[axis]; ++t) {
      for (std::int64_t i = 0; i < inputs(); ++i) {
        std::array<double, kMostTileInputs> row{};
        for (std::int64_t k = 0; k < inputs(); ++k) {
          const std::int64_t fine = t * outputs() - 1 + k;
          if (fine < 0 || fine >= extents[axis]) {
            continue;
          }
          const std::int64_t near = fine / 2;
          const std::int64_t far = fine % 2 == 0 ? near - 1 : near + 1;
          const std::int64_t first = t * outputs() / 2 - 1;
          const double weight = matrices_.input[i][k];
          row[static_cast<std::size_t>(near - first)] += kNear * weight;
          row[static_cast<std::size_t>(far - first)] += kFar * weight;
        }
        for (std::int64_t j = 0; j < coarse_inputs(); ++j) {
          lifts_[axis].push_back(static_cast<float>(row[static_cast<std::size_t>(j)]));
        }
      }
    }
  }
}

TilePosition TileGrid::position(std::int64_t tile) const {
  return {tile / (counts_[1] * counts_[2]), tile / counts_[2] % counts_[1], tile % counts_[2]};
}

TilePosition TileGrid::first_input(const TilePosition& tile) const {
  return {tile.z * outputs() - 1, tile.y * outputs() - 1, tile.x * outputs() - 1};
}

WinogradRange TileGrid::existing_inputs(std::size_t axis, std::int64_t tile) const {
  const std::int64_t first = tile * outputs() - 1;
  return {std::max<std::int64_t>(-first, 0), std::min(inputs(), extents_[axis] - first)};
}

std::int64_t TileGrid::valid_outputs(std::size_t axis, std::int64_t tile) const {
  return std::min(outputs(), extents_[axis] - tile * outputs());
}

TilePosition TileGrid::first_coarse_input(const TilePosition& tile) const {
  const std::int64_t step = outputs() / 2;
  return {tile.z * step - 1, tile.y * step - 1, tile.x * step - 1};
}

const float* TileGrid::lift(std::size_t axis, std::int64_t tile) const {
  return lifts_[axis].data() + tile * inputs() * coarse_inputs();
}

}  // namespace mezzotint::kernels
