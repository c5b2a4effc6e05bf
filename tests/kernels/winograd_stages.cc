// The stages of a Winograd convolution by themselves, against the matrices that they stand for.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "backend/cpu/kernels/conv_winograd/contract.h"
#include "backend/cpu/kernels/conv_winograd/error.h"
#include "backend/cpu/kernels/conv_winograd/tile_grid.h"
#include "backend/cpu/kernels/conv_winograd/weights.h"
#include "backend/cpu/kernels/implementation.h"
#include "backend/single_op.h"
#include "kernels/winograd_tile.h"
#include "support/random_fill.h"

namespace mezzotint::testing {
namespace {

using kernels::TileGrid;
using kernels::WinogradInput;
using kernels::WinogradMatrices;
using kernels::WinogradOutput;
using kernels::WinogradRange;
using kernels::WinogradStages;
using kernels::WinogradTile;

// Three passes of at most four roundings each, of a single term.
constexpr double kRoundings = 12 * 0x1p-24;

std::int64_t cube(std::int64_t side) {
  return side * side * side;
}

std::vector<double> unit(std::int64_t count, std::int64_t one) {
  std::vector<double> values(static_cast<std::size_t>(count));
  values[static_cast<std::size_t>(one)] = 1;
  return values;
}

class WinogradStagesTest : public ::testing::TestWithParam<std::tuple<Isa, WinogradTile>> {
 protected:
  [[nodiscard]] std::int64_t lanes() const { return stages_.lanes; }
  // Every lane holds its own multiple of a value.
  [[nodiscard]] std::vector<float> in_lanes(const std::vector<double>& values) const {
    std::vector<float> all;
    for (const double value : values) {
      for (std::int64_t lane = 0; lane < lanes(); ++lane) {
        all.push_back(static_cast<float>(value * static_cast<double>(lane + 1)));
      }
    }
    return all;
  }
  void expect_in_lanes(const std::vector<float>& got, const std::vector<double>& expected) const {
    for (std::size_t i = 0; i < got.size(); ++i) {
      const auto lane = static_cast<double>(static_cast<std::int64_t>(i) % lanes() + 1);
      const double value = lane * expected[i / static_cast<std::size_t>(lanes())];
      ASSERT_NEAR(got[i], value, kRoundings * std::abs(value)) << i;
    }
  }

  const WinogradTile tile_ = std::get<1>(GetParam());
  const WinogradStages& stages_ = kernels::for_isa(
      std::get<0>(GetParam()), kernels::conv_winograd_avx2(), kernels::conv_winograd_avx512());
  const std::size_t form_ = tile_ == WinogradTile::k4 ? 1 : 0;
  const WinogradMatrices matrices_ = kernels::winograd_matrices(tile_);
  const std::int64_t side_ = matrices_.inputs;
  const std::int64_t positions_ = cube(side_);
};

TEST_P(WinogradStagesTest, TransformIsTheInputMatrix) {
  for (std::int64_t i = 0; i < positions_; ++i) {
    const std::vector<float> source = in_lanes(unit(positions_, i));
    std::vector<float> v(source.size(), std::nanf(""));
    WinogradInput in{};
    in.origin = source.data();
    in.stride_x = lanes();
    in.stride_y = side_ * in.stride_x;
    in.stride_z = side_ * in.stride_y;
    in.vectors = 1;
    in.out = v.data();
    in.position_stride = lanes();
    std::ranges::fill(in.existing, WinogradRange{0, side_});
    stages_.transform[form_](in);
    expect_in_lanes(v, along_axes(input_matrix(matrices_), unit(positions_, i)));
  }
}

// Only what exists is in memory. Ranges differ along the axes, so that an exchanged axis shows.
TEST_P(WinogradStagesTest, TransformTakesInputsOutsideAsZero) {
  for (const bool whole_rows : {true, false}) {
    const std::array<WinogradRange, 3> existing{
        {{1, side_}, {0, side_ - 1}, whole_rows ? WinogradRange{0, side_} : WinogradRange{1, 3}}};
    const auto extent = [&](std::size_t axis) { return existing[axis].end - existing[axis].first; };
    for (std::int64_t z = 0; z < extent(0); ++z) {
      for (std::int64_t y = 0; y < extent(1); ++y) {
        for (std::int64_t x = 0; x < extent(2); ++x) {
          const std::vector<float> source = in_lanes(
              unit(extent(0) * extent(1) * extent(2), (z * extent(1) + y) * extent(2) + x));
          std::vector<float> v(static_cast<std::size_t>(positions_ * lanes()), std::nanf(""));
          WinogradInput in{};
          in.origin = source.data();
          in.stride_x = lanes();
          in.stride_y = extent(2) * in.stride_x;
          in.stride_z = extent(1) * in.stride_y;
          in.vectors = 1;
          in.out = v.data();
          in.position_stride = lanes();
          std::ranges::copy(existing, in.existing);
          (whole_rows ? stages_.transform : stages_.transform_border)[form_](in);
          const std::int64_t at =
              ((z + existing[0].first) * side_ + y + existing[1].first) * side_ + x +
              existing[2].first;
          expect_in_lanes(v, along_axes(input_matrix(matrices_), unit(positions_, at)));
        }
      }
    }
  }
}

// Border and inner tiles differ along the axes, so that an exchanged axis shows.
TEST_P(WinogradStagesTest, TransformOfADoubledSourceIsTheLift) {
  const TileGrid grid(tile_, {4, 12, 14});
  const std::int64_t coarse = grid.coarse_inputs();
  const std::array<std::int64_t, 3> at{0, 1, grid.tiles_along(2) - 1};
  std::array<Matrix, 3> lifts;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    lifts[axis] = Matrix{side_, coarse};
    std::copy_n(grid.lift(axis, at[axis]), side_ * coarse, lifts[axis].entries.begin());
  }
  for (std::int64_t i = 0; i < cube(coarse); ++i) {
    const std::vector<float> source = in_lanes(unit(cube(coarse), i));
    std::vector<float> v(static_cast<std::size_t>(positions_ * lanes()), std::nanf(""));
    WinogradInput in{};
    in.origin = source.data();
    in.stride_x = lanes();
    in.stride_y = coarse * in.stride_x;
    in.stride_z = coarse * in.stride_y;
    in.vectors = 1;
    for (std::size_t axis = 0; axis < 3; ++axis) {
      in.lift[axis] = grid.lift(axis, at[axis]);
    }
    in.out = v.data();
    in.position_stride = lanes();
    stages_.transform_doubled[form_](in);
    expect_in_lanes(v, along_axes(lifts[0], lifts[1], lifts[2], unit(cube(coarse), i)));
  }
}

TEST_P(WinogradStagesTest, FinishIsTheOutputMatrix) {
  const std::int64_t m = matrices_.outputs;
  const std::vector<float> constants(static_cast<std::size_t>(lanes()));
  for (std::int64_t i = 0; i < positions_; ++i) {
    std::vector<float> products = in_lanes(unit(positions_, i));
    products.resize(products.size() + static_cast<std::size_t>(lanes()));  // fetched ahead
    std::vector<float> y(static_cast<std::size_t>(cube(m) * lanes()), std::nanf(""));
    WinogradOutput out{};
    out.products = products.data();
    out.position_stride = lanes();
    out.channels = lanes();
    out.valid_z = out.valid_y = out.valid_x = m;
    out.out = y.data();
    out.stride_x = lanes();
    out.stride_y = m * out.stride_x;
    out.stride_z = m * out.stride_y;
    out.constants = constants.data();
    stages_.finish[form_](out);
    expect_in_lanes(y, along_axes(output_matrix(matrices_), unit(positions_, i)));
  }
}

// One tile by way of all stages, in float32, with weights packed by any matrices.
class FloatTile {
 public:
  static constexpr std::int64_t kChannels = 64;

  FloatTile(const WinogradStages& stages, std::size_t form, const WinogradMatrices& exact)
      : stages_(stages),
        form_(form),
        outputs_(exact.outputs),
        side_(exact.inputs),
        layout_{stages.lanes, stages.lanes, stages.lanes, {{kChannels, kChannels}}},
        inputs_(random_floats(cube(side_) * kChannels, 1)),
        weights_(random_floats(layout_.outputs * kChannels * 27, 2)) {}

  [[nodiscard]] double rms_error(const WinogradMatrices& matrices) const {
    const std::vector<double> got = run(matrices);
    std::vector<double> truth(got.size());
    for (std::int64_t o = 0; o < layout_.outputs; ++o) {
      for (std::int64_t c = 0; c < kChannels; ++c) {
        std::vector<double> d;
        for (std::int64_t i = 0; i < cube(side_); ++i) {
          d.push_back(inputs_[static_cast<std::size_t>(i * kChannels + c)]);
        }
        const auto g = weights_.begin() + (o * kChannels + c) * 27;
        const std::vector<double> y = correlate(outputs_, d, std::vector<double>(g, g + 27));
        for (std::size_t i = 0; i < y.size(); ++i) {
          truth[i * static_cast<std::size_t>(layout_.outputs) + static_cast<std::size_t>(o)] +=
              y[i];
        }
      }
    }
    return rms_difference(got, truth);
  }

  [[nodiscard]] double estimate(const WinogradMatrices& matrices) const {
    const std::vector<double> x(inputs_.begin(), inputs_.end());
    const std::vector<double> w(weights_.begin(), weights_.end());
    return kernels::winograd_rms_error(matrices, {kChannels, rms(x), rms(w)});
  }

 private:
  [[nodiscard]] std::vector<double> run(const WinogradMatrices& matrices) const {
    const std::int64_t positions = cube(side_);
    std::vector<float> packed(static_cast<std::size_t>(layout_.elements(positions)));
    kernels::pack_weights(matrices, layout_, weights_, packed);
    std::vector<float> v(static_cast<std::size_t>(positions * kChannels));
    WinogradInput in{};
    in.origin = inputs_.data();
    in.stride_x = kChannels;
    in.stride_y = side_ * in.stride_x;
    in.stride_z = side_ * in.stride_y;
    in.vectors = kChannels / stages_.lanes;
    in.vector_stride = stages_.lanes;
    in.out = v.data();
    in.position_stride = kChannels;
    std::ranges::fill(in.existing, WinogradRange{0, side_});
    stages_.transform[form_](in);

    std::vector<float> m(static_cast<std::size_t>((positions + 1) * stages_.lanes));
    for (std::int64_t p = 0; p < positions; ++p) {
      const float* u = packed.data() + p * kChannels * stages_.lanes;
      stages_.multiply(
          {v.data() + p * kChannels, u, u, m.data() + p * stages_.lanes, 1, kChannels, 1});
    }

    const std::vector<float> constants(static_cast<std::size_t>(stages_.lanes));
    std::vector<float> y(static_cast<std::size_t>(cube(outputs_) * stages_.lanes));
    WinogradOutput out{};
    out.products = m.data();
    out.position_stride = stages_.lanes;
    out.channels = stages_.lanes;
    out.valid_z = out.valid_y = out.valid_x = outputs_;
    out.out = y.data();
    out.stride_x = stages_.lanes;
    out.stride_y = outputs_ * out.stride_x;
    out.stride_z = outputs_ * out.stride_y;
    out.constants = constants.data();
    stages_.finish[form_](out);
    return {y.begin(), y.end()};
  }

  const WinogradStages& stages_;
  std::size_t form_;
  std::int64_t outputs_;
  std::int64_t side_;
  kernels::PackedLayout layout_;
  std::vector<float> inputs_;
  std::vector<float> weights_;
};

// The estimate is neither exceeded nor empty, and refuses weights transformed a little wrongly.
TEST_P(WinogradStagesTest, ErrorOfATileIsAsEstimated) {
  const FloatTile tile(stages_, form_, matrices_);
  const double estimate = tile.estimate(matrices_);
  EXPECT_LE(tile.rms_error(matrices_), estimate);
  EXPECT_GE(tile.rms_error(matrices_), estimate / 3);
  for (int i = 0; i < matrices_.inputs; ++i) {
    for (int j = 0; j < 3; ++j) {
      WinogradMatrices perturbed = matrices_;
      perturbed.weight[i][j] += 1e-4;
      EXPECT_GT(tile.rms_error(perturbed), 3 * estimate) << i << ", " << j;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Isa, WinogradStagesTest,
                         ::testing::Combine(::testing::ValuesIn(runnable_isas()),
                                            ::testing::Values(WinogradTile::k2, WinogradTile::k4)),
                         [](const auto& parameter) {
                           return fmt::format("{}_F{}", name_of(std::get<0>(parameter.param)),
                                              static_cast<int>(std::get<1>(parameter.param)));
                         });

}  // namespace
}  // namespace mezzotint::testing
