#include "backend/cpu/kernels/conv_winograd/blocking.h"

#include <algorithm>
#include <cmath>
#include <iterator>

#include "backend/cpu/kernels/implementation.h"

namespace mezzotint::kernels {
namespace {

// Tiles of a segment. Blocks of 6, 12 and 18 tiles, whole blocks of rows, divide the largest; 16
// deals the 64 tiles of a small volume evenly.
constexpr std::int64_t kSegmentTiles[] = {16, 18, 36};
// Segments to aim for, so that few workers are idle at the end.
constexpr std::int64_t kSegments = 16;

// Tiles that the multiplication keeps in registers at a time (multiply-inl.h).
constexpr std::int64_t kRowBlock = 6;
// Larger blocks were slower whatever the sizes.
constexpr double kMostBlock = 18;
// The rest of L2 holds the panel of U in use, the next one, and the inputs on their way.
constexpr double kRoomInL2 = 0.8;
// Zen 4, 1 MiB of L2 before a near L3: 128 -> 128 with 14 MB of weights is fastest without
// spilling. Xeons with 2 MiB before a far L3: with it.
constexpr double kSpillPriceNear = 18;
constexpr double kSpillPriceFar = 8;
constexpr std::int64_t kL2BeforeFarL3 = std::int64_t{2} << 20;

// What one transform of the inputs costs beside the products of one panel, in panels: measured at
// 64 outputs per panel.
constexpr double kTransformInPanels = 0.5;

}  // namespace

std::int64_t segment_tiles(std::int64_t tiles) {
  const auto* const found = std::ranges::lower_bound(kSegmentTiles, ceil_div(tiles, kSegments));
  return found == std::end(kSegmentTiles) ? *std::prev(found) : *found;
}

// Per tile, a block of T tiles moves U / T bytes of weights, which are read in order and ahead of
// time, and what of its own V and M does not fit into L2: written, written back, and read again,
// each time waited for. With b bytes of V and M per tile, a room of R in L2, and a price p of a
// spilled byte, that is U / T + p (b - R / T): monotonous in T. So either T = R / b, where nothing
// spills, or, when U > p R, as many as pay.
std::int64_t block_tiles(const WinogradSizes& sizes, std::int64_t segment, std::int64_t l2_bytes) {
  const auto bytes_per_tile =
      static_cast<double>(sizes.positions * (sizes.channels + sizes.panel_outputs)) * sizeof(float);
  const auto weights =
      static_cast<double>(sizes.positions * sizes.channels * sizes.panel_outputs * sizes.panels) *
      sizeof(float);
  const double room = kRoomInL2 * static_cast<double>(l2_bytes);
  double tiles = kMostBlock;
  const double price = l2_bytes < kL2BeforeFarL3 ? kSpillPriceNear : kSpillPriceFar;
  if (weights <= price * room) {
    tiles = std::min(room / bytes_per_tile, tiles);
  }
  const auto whole_rows = std::max<std::int64_t>(1, std::llround(tiles / kRowBlock)) * kRowBlock;
  return ceil_div(segment, ceil_div(segment, whole_rows));
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
