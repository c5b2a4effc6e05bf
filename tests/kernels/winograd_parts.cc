// What a Winograd convolution is made of, apart from its arithmetic: matrices, error bounds, packed
// weights, tiles and blocks.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "backend/cpu/kernels/conv_winograd/blocking.h"
#include "backend/cpu/kernels/conv_winograd/error.h"
#include "backend/cpu/kernels/conv_winograd/matrices.h"
#include "backend/cpu/kernels/conv_winograd/tile_grid.h"
#include "backend/cpu/kernels/conv_winograd/weights.h"
#include "base/rounding.h"
#include "kernels/winograd_tile.h"
#include "support/random_fill.h"

namespace mezzotint::testing {
namespace {

using kernels::PackedLayout;
using kernels::TileGrid;
using kernels::TilePosition;
using kernels::WinogradMatrices;
using kernels::WinogradRange;
using kernels::WinogradSizes;
using kernels::WinogradTile;

constexpr WinogradTile kTiles[] = {WinogradTile::k2, WinogradTile::k4};

std::vector<double> random_doubles(std::int64_t count, std::uint64_t seed) {
  const std::vector<float> values = random_floats(count, seed);
  return {values.begin(), values.end()};
}

TEST(WinogradMatrices, GiveTheDirectSums) {
  for (const WinogradTile tile : kTiles) {
    const WinogradMatrices matrices = kernels::winograd_matrices(tile);
    for (std::uint64_t seed = 0; seed < 100; ++seed) {
      const std::vector<double> d = random_doubles(matrices.inputs, 2 * seed);
      const std::vector<double> g = random_doubles(3, 2 * seed + 1);
      for (int i = 0; i < matrices.outputs; ++i) {
        double sum = 0;
        for (int j = 0; j < matrices.inputs; ++j) {
          double input = 0;
          double weight = 0;
          for (int k = 0; k < matrices.inputs; ++k) {
            input += matrices.input[j][k] * d[static_cast<std::size_t>(k)];
          }
          for (int k = 0; k < 3; ++k) {
            weight += matrices.weight[j][k] * g[static_cast<std::size_t>(k)];
          }
          sum += matrices.output[i][j] * input * weight;
        }
        const double* from = &d[static_cast<std::size_t>(i)];
        const double direct = from[0] * g[0] + from[1] * g[1] + from[2] * g[2];
        EXPECT_NEAR(sum, direct, 1e-13) << "F(" << matrices.outputs << "), output " << i;
      }
    }
  }
}

// The roundings that error.cc counts are those of sums alone.
TEST(WinogradMatrices, TransformsAreExactInFloat32) {
  for (const WinogradTile tile : kTiles) {
    const WinogradMatrices matrices = kernels::winograd_matrices(tile);
    for (const Matrix& matrix : {input_matrix(matrices), output_matrix(matrices)}) {
      for (const double entry : matrix.entries) {
        EXPECT_EQ(entry, static_cast<double>(static_cast<float>(entry)));
      }
    }
  }
}

// Classic points for F(4) would cost more than three times the error.
TEST(WinogradError, OfAChannelGrowsAsStated) {
  const WinogradMatrices f2 = kernels::winograd_matrices(WinogradTile::k2);
  const WinogradMatrices f4 = kernels::winograd_matrices(WinogradTile::k4);
  EXPECT_LE(kernels::winograd_error_growth(f4, 1), 16);
  EXPECT_LE(kernels::winograd_error_growth(f2, 1), 2);
  EXPECT_EQ(kernels::winograd_error_growth(f2, 5), 1);
  for (std::int64_t channels = 1; channels < 1000; ++channels) {
    EXPECT_LE(kernels::winograd_error_growth(f4, channels + 1),
              kernels::winograd_error_growth(f4, channels));
    EXPECT_GE(kernels::winograd_error_growth(f4, channels), 2);
  }
}

// Five deviations of the error against the bound for a largest result of four: what sum_bound()
// leaves for a direct sum, it leaves for F(2^3) without an allowance.
TEST(WinogradError, OfF2IsWithinADirectSumsBound) {
  const WinogradMatrices matrices = kernels::winograd_matrices(WinogradTile::k2);
  for (std::int64_t channels = 1; channels < 1000; ++channels) {
    const auto terms = static_cast<double>(27 * channels);
    const double error = kernels::winograd_rms_error(matrices, {channels, 1, 1});
    EXPECT_LE(5 * error, sum_bound(terms, 4 * std::sqrt(terms))) << channels;
  }
}

TEST(WinogradError, HardBoundsAreAboveEstimates) {
  for (const WinogradTile tile : kTiles) {
    const WinogradMatrices matrices = kernels::winograd_matrices(tile);
    for (const std::int64_t channels : {1, 64, 1000}) {
      EXPECT_GT(kernels::winograd_hard_bound(matrices, {channels, 1, 1}),
                5 * kernels::winograd_rms_error(matrices, {channels, 1, 1}));
    }
  }
}

// Truth and result of one tile, in double, over many channels.
class PerturbedTile {
 public:
  static constexpr std::int64_t kChannels = 64;

  explicit PerturbedTile(const WinogradMatrices& matrices) : matrices_(matrices) {
    const std::int64_t side = matrices.inputs;
    const auto outputs = static_cast<std::size_t>(matrices.outputs);
    truth_.resize(outputs * outputs * outputs);
    for (std::int64_t c = 0; c < kChannels; ++c) {
      const auto seed = static_cast<std::uint64_t>(c);
      inputs_.push_back(random_doubles(side * side * side, 2 * seed));
      weights_.push_back(random_doubles(27, 2 * seed + 1));
      add(correlate(matrices.outputs, inputs_.back(), weights_.back()), truth_);
    }
  }

  [[nodiscard]] double rms_error(const WinogradMatrices& matrices) const {
    std::vector<double> products(inputs_[0].size());
    for (std::size_t c = 0; c < inputs_.size(); ++c) {
      const std::vector<double> v = along_axes(input_matrix(matrices), inputs_[c]);
      std::vector<double> u = along_axes(weight_matrix(matrices), weights_[c]);
      std::ranges::transform(u, v, u.begin(), std::multiplies<>{});
      add(u, products);
    }
    return rms_difference(along_axes(output_matrix(matrices), products), truth_);
  }

  [[nodiscard]] double accepted() const {
    const double uniform = 1 / std::sqrt(3.0);  // of [-1, 1)
    return 3 * kernels::winograd_rms_error(matrices_, {kChannels, uniform, uniform});
  }

 private:
  static void add(const std::vector<double>& more, std::vector<double>& sum) {
    std::ranges::transform(sum, more, sum.begin(), std::plus<>{});
  }

  WinogradMatrices matrices_;
  std::vector<std::vector<double>> inputs_;
  std::vector<std::vector<double>> weights_;
  std::vector<double> truth_;
};

// The root mean square that tests accept of kernels refuses any entry that is off by 1e-4.
TEST(WinogradError, EstimateRefusesAPerturbedMatrix) {
  for (const WinogradTile tile : kTiles) {
    const WinogradMatrices exact = kernels::winograd_matrices(tile);
    const PerturbedTile problem(exact);
    EXPECT_LE(problem.rms_error(exact), 1e-6 * problem.accepted());
    const auto expect_refused = [&](auto member, int rows, int columns, const char* name) {
      for (int i = 0; i < rows; ++i) {
        for (int j = 0; j < columns; ++j) {
          WinogradMatrices perturbed = exact;
          (perturbed.*member)[i][j] += 1e-4;
          EXPECT_GT(problem.rms_error(perturbed), problem.accepted())
              << "F(" << exact.outputs << ") " << name << " " << i << ", " << j;
        }
      }
    };
    expect_refused(&WinogradMatrices::input, exact.inputs, exact.inputs, "B^T");
    expect_refused(&WinogradMatrices::weight, exact.inputs, 3, "G");
    expect_refused(&WinogradMatrices::output, exact.outputs, exact.inputs, "A^T");
  }
}

// Every float of the packed array: the transform of a weight, rounded once, or zero.
TEST(WinogradWeights, ArePackedByPanelPositionChannelOutput) {
  const PackedLayout layout{37, 40, 16, {{5, 8}, {8, 8}, {1, 8}}};
  EXPECT_EQ(layout.channels(), 24);
  EXPECT_EQ(layout.panels(), 3);
  EXPECT_EQ(layout.panel_width(2), 8);
  constexpr std::int64_t kChannels = 14;
  const std::vector<float> plain = random_floats(layout.outputs * kChannels * 27, 1);
  for (const WinogradTile tile : kTiles) {
    const WinogradMatrices matrices = kernels::winograd_matrices(tile);
    const std::int64_t positions = matrices.inputs * matrices.inputs * matrices.inputs;
    std::vector<float> expected(static_cast<std::size_t>(layout.elements(positions)));
    for (std::int64_t o = 0; o < layout.outputs; ++o) {
      std::int64_t from = 0;
      std::int64_t to = 0;
      for (const kernels::ChannelRange& source : layout.sources) {
        for (std::int64_t c = 0; c < source.count; ++c, ++from) {
          const auto first = plain.begin() + (o * kChannels + from) * 27;
          const std::vector<double> u =
              along_axes(weight_matrix(matrices), std::vector<double>(first, first + 27));
          const std::int64_t panel = o / layout.panel;
          const std::int64_t width = layout.panel_width(panel);
          for (std::int64_t p = 0; p < positions; ++p) {
            const std::int64_t at = layout.panel_offset(panel, positions) +
                                    (p * layout.channels() + to + c) * width + o % layout.panel;
            expected[static_cast<std::size_t>(at)] =
                static_cast<float>(u[static_cast<std::size_t>(p)]);
          }
        }
        to += source.padded;
      }
    }
    std::vector<float> packed(expected.size(), std::nanf(""));
    kernels::pack_weights(matrices, layout, plain, packed);
    // Sums in another order may round to the neighbouring float.
    for (std::size_t i = 0; i < packed.size(); ++i) {
      ASSERT_NEAR(packed[i], expected[i], std::ldexp(std::abs(expected[i]), -22)) << i;
    }
  }
}

bool exists(const std::array<std::int64_t, 3>& extents, std::int64_t z, std::int64_t y,
            std::int64_t x) {
  return z >= 0 && z < extents[0] && y >= 0 && y < extents[1] && x >= 0 && x < extents[2];
}

TEST(WinogradTileGrid, CoversEachOutputOnceAndKnowsWhichInputsExist) {
  for (const WinogradTile tile : kTiles) {
    for (const auto& extents :
         {std::array<std::int64_t, 3>{1, 1, 1}, {1, 2, 3}, {4, 8, 12}, {5, 9, 13}, {13, 6, 17}}) {
      const TileGrid grid(tile, extents);
      std::vector<int> covered(static_cast<std::size_t>(extents[0] * extents[1] * extents[2]));
      for (std::int64_t t = 0; t < grid.tiles(); ++t) {
        const TilePosition at = grid.position(t);
        EXPECT_EQ((at.z * grid.tiles_along(1) + at.y) * grid.tiles_along(2) + at.x, t);
        const TilePosition first = grid.first_input(at);
        const WinogradRange zs = grid.existing_inputs(0, at.z);
        const WinogradRange ys = grid.existing_inputs(1, at.y);
        const WinogradRange xs = grid.existing_inputs(2, at.x);
        const auto within = [](const WinogradRange& range, std::int64_t i) {
          return i >= range.first && i < range.end;
        };
        for (std::int64_t z = 0; z < grid.inputs(); ++z) {
          for (std::int64_t y = 0; y < grid.inputs(); ++y) {
            for (std::int64_t x = 0; x < grid.inputs(); ++x) {
              ASSERT_EQ(within(zs, z) && within(ys, y) && within(xs, x),
                        exists(extents, first.z + z, first.y + y, first.x + x));
            }
          }
        }
        for (std::int64_t z = 0; z < grid.valid_outputs(0, at.z); ++z) {
          for (std::int64_t y = 0; y < grid.valid_outputs(1, at.y); ++y) {
            for (std::int64_t x = 0; x < grid.valid_outputs(2, at.x); ++x) {
              // An output's inputs begin one before it.
              const TilePosition out{first.z + 1 + z, first.y + 1 + y, first.x + 1 + x};
              ASSERT_TRUE(exists(extents, out.z, out.y, out.x));
              ++covered[static_cast<std::size_t>((out.z * extents[1] + out.y) * extents[2] +
                                                 out.x)];
            }
          }
        }
      }
      EXPECT_TRUE(std::ranges::all_of(covered, [](int count) { return count == 1; }));
    }
  }
}

// Along one axis: interpolate with clamping, pad with zeros, apply B^T; or the grid's one matrix.
TEST(WinogradTileGrid, LiftsAreTheTransformOfTheDoubledAndPaddedSource) {
  for (const WinogradTile tile : kTiles) {
    const Matrix input = input_matrix(kernels::winograd_matrices(tile));
    for (std::int64_t coarse = 1; coarse <= 7; ++coarse) {
      const TileGrid grid(tile, {2, 2, 2 * coarse});
      const std::vector<double> x = random_doubles(coarse, static_cast<std::uint64_t>(coarse));
      const auto at = [&](std::int64_t i) {
        return x[static_cast<std::size_t>(std::clamp<std::int64_t>(i, 0, coarse - 1))];
      };
      const auto fine = [&](std::int64_t i) {
        if (i < 0 || i >= 2 * coarse) {
          return 0.0;
        }
        return 0.75 * at(i / 2) + 0.25 * at(i % 2 == 0 ? i / 2 - 1 : i / 2 + 1);
      };
      for (std::int64_t t = 0; t < grid.tiles_along(2); ++t) {
        const TilePosition first = grid.first_input({0, 0, t});
        const TilePosition first_coarse = grid.first_coarse_input({0, 0, t});
        for (std::int64_t i = 0; i < grid.inputs(); ++i) {
          double expected = 0;
          for (std::int64_t k = 0; k < grid.inputs(); ++k) {
            expected += input.at(i, k) * fine(first.x + k);
          }
          double lifted = 0;
          for (std::int64_t k = 0; k < grid.coarse_inputs(); ++k) {
            lifted += grid.lift(2, t)[i * grid.coarse_inputs() + k] * at(first_coarse.x + k);
          }
          EXPECT_NEAR(lifted, expected, 1e-14) << "coarse " << coarse << ", tile " << t;
        }
      }
    }
  }
}

// A short segment is one block where all of it fits into the cache; a long one never is.
TEST(WinogradBlocking, BlocksArePartsOfASegment) {
  for (const std::int64_t tile_count : {1, 7, 64, 1000, 32768}) {
    const std::int64_t segment = kernels::segment_tiles(tile_count);
    EXPECT_GE(segment, 1);
    for (const std::int64_t channels : {16, 64, 512}) {
      for (const std::int64_t panels : {1, 3, 8}) {
        const WinogradSizes sizes{216, tile_count, channels, 64, panels};
        for (std::int64_t l2 = std::int64_t{1} << 18; l2 <= std::int64_t{1} << 26; l2 *= 2) {
          const std::int64_t block = kernels::block_tiles(sizes, segment, l2);
          EXPECT_GE(block, 1);
          EXPECT_LE(block, segment);
        }
        const std::int64_t block = kernels::block_tiles(sizes, segment, std::int64_t{1} << 32);
        EXPECT_EQ(block == segment, segment <= 16) << segment;
      }
    }
  }
}

// Groups are for idle workers; enough segments need none.
TEST(WinogradBlocking, PanelsAreSplitOnlyForIdleWorkers) {
  const WinogradSizes sizes{216, 64, 256, 64, 4};
  EXPECT_EQ(kernels::panel_groups(sizes, 100, 1), 1);
  EXPECT_EQ(kernels::panel_groups(sizes, 64, 4), 1);
  EXPECT_GT(kernels::panel_groups(sizes, 1, 4), 1);
  for (const std::int64_t threads : {1, 2, 8, 64}) {
    for (const std::int64_t segments : {1, 2, 5, 64}) {
      const std::int64_t groups = kernels::panel_groups(sizes, segments, threads);
      EXPECT_GE(groups, 1);
      EXPECT_LE(groups, sizes.panels);
    }
  }
}

TEST(WinogradBlocking, PositionsAreAnOddNumberOfCacheLinesApart) {
  for (std::int64_t row = 1; row < 2000; ++row) {
    const std::int64_t stride = kernels::position_stride(row);
    EXPECT_GE(stride, row);
    EXPECT_LT(stride, row + 3 * 16);
    EXPECT_EQ(stride % 32, 16);
  }
}

}  // namespace
}  // namespace mezzotint::testing
