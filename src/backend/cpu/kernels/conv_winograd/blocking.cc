#include "backend/cpu/kernels/conv_winograd/blocking.h"

#include <algorithm>

#include "backend/cpu/kernels/implementation.h"

namespace mezzotint::kernels {
namespace {

constexpr std::int64_t kLeastSegment = 16;
constexpr std::int64_t kMostSegment = 48;
// Segments to aim for, so that few workers are idle at the end.
constexpr std::int64_t kSegments = 16;

// What one transform of the inputs costs beside the products of one panel, in panels: measured at
// 64 outputs per panel.
constexpr double kTransformInPanels = 0.5;

}  // namespace

std::int64_t segment_tiles(std::int64_t tiles) {
  return std::clamp(ceil_div(tiles, kSegments), kLeastSegment, kMostSegment);
}

// A block reads all of U once, from behind L2; what of V and M does not fit into L2 is written and
// read once. The fewest bytes per tile win; the larger block among equals.
std::int64_t block_tiles(const WinogradSizes& sizes, std::int64_t segment, std::int64_t l2_bytes) {
  const auto bytes_per_tile =
      static_cast<double>(sizes.positions * (sizes.channels + sizes.panel_outputs)) * sizeof(float);
  const auto weights =
      static_cast<double>(sizes.positions * sizes.channels * sizes.panel_outputs * sizes.panels) *
      sizeof(float);
  // The rest of L2 holds the panel of U in use, the next one, and the inputs on their way.
  const double room = 0.8 * static_cast<double>(l2_bytes);
  std::int64_t best = 1;
  double least = 0;
  for (std::int64_t block = 1; block <= segment; ++block) {
    const double spilled = std::max(0.0, static_cast<double>(block) * bytes_per_tile - room);
    const double traffic = (weights + 2.0 * spilled) / static_cast<double>(block);
    if (block == 1 || traffic <= least) {
      best = block;
      least = traffic;
    }
  }
  // Equal blocks, each a whole number of the multiplication's row blocks where that costs little.
  return ceil_div(segment, ceil_div(segment, best));
}

std::int64_t panel_groups(const WinogradSizes& sizes, std::int64_t segments, std::int64_t threads) {
  std::int64_t best = 1;
  double least = 0;
  for (std::int64_t groups = 1; groups <= sizes.panels; ++groups) {
    const auto rounds = static_cast<double>(ceil_div(segments * groups, threads));
    const auto panels = static_cast<double>(ceil_div(sizes.panels, groups));
    const double time = rounds * (kTransformInPanels + panels);
    if (groups == 1 || time < least) {
      best = groups;
      least = time;
    }
  }
  return best;
}

std::int64_t position_stride(std::int64_t row) {
  constexpr std::int64_t kLine = 16;
  const std::int64_t lines = ceil_div(row, kLine);
  return (lines + (lines % 2 == 0 ? 1 : 2)) * kLine;
}

}  // namespace mezzotint::kernels
