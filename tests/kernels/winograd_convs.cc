// Winograd convolutions against the law, with everything that may be fused into them.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <span>

#include "backend/conv_op.h"
#include "backend/cpu/kernels/conv_winograd/error.h"
#include "backend/cpu/kernels/kernel_ops.h"
#include "base/rounding.h"
#include "graph/conv_region.h"
#include "kernels/check_kernel.h"
#include "kernels/winograd_tile.h"

namespace mezzotint::testing {
namespace {

using kernels::WinogradTile;

// Sizes 1, primes, and neither multiples of a tile nor of a vector; several segments where channels
// are few.
const ConvCase cases[] = {
    {1, 1, {1, 1, 1}, cube3},
    {3, 16, {1, 2, 1}, cube3},
    {1, 17, {5, 7, 3}, cube3, 1, 1, 2},
    {16, 3, {4, 4, 4}, cube3, 1, 1, 1, false},
    {3, 5, {17, 9, 12}, cube3},
    {17, 48, {5, 9, 6}, cube3},
    {48, 64, {5, 3, 4}, cube3, 1, 1, 2, false},
    {64, 100, {3, 5, 6}, cube3},
    {100, 64, {2, 1, 9}, cube3},
    {64, 64, {8, 4, 4}, cube3},
};

// What the op's convolution reads: sources as loaded, channels innermost, one after the other.
std::vector<double> loaded_inputs(SingleOp& op, const ConvRegion& region) {
  std::vector<double> all;
  for (const ConvSource& source : region.sources) {
    const std::span<const float> x = op.input_floats(source.input);
    if (!source.coefficients) {
      all.insert(all.end(), x.begin(), x.end());
      continue;
    }
    const Shape& pairs = op.view().input(*source.coefficients).type.shape;
    const std::span<const float> coefficients = op.input_floats(*source.coefficients);
    const std::size_t sample = x.size() / static_cast<std::size_t>(pairs[0]);
    for (std::size_t i = 0; i < x.size(); ++i) {
      const auto channel = static_cast<std::int64_t>(i) % source.channels + source.channel_offset +
                           static_cast<std::int64_t>(i / sample) * pairs[1];
      const float* pair = &coefficients[static_cast<std::size_t>(2 * channel)];
      const double z = static_cast<double>(x[i]) * pair[0] + pair[1];
      all.push_back(source.silu ? z / (1 + std::exp(-z)) : z);
    }
  }
  return all;
}

double largest(std::span<const double> values) {
  double result = 0;
  for (const double value : values) {
    result = std::max(result, std::abs(value));
  }
  return result;
}

class WinogradConvs : public ::testing::TestWithParam<std::tuple<Isa, WinogradTile>> {
 protected:
  [[nodiscard]] Isa isa() const { return std::get<0>(GetParam()); }
  [[nodiscard]] std::int64_t tile() const { return matrices_.outputs; }

  // Three bounds: none may be exceeded, whatever the inputs; the root mean square; and what `bench`
  // accepts, where there are enough results to know how large they are.
  [[nodiscard]] Judge within_bounds(SingleOp& op) const {
    const ConvRegion region = *describe_conv(op.view());
    const std::vector<double> x = loaded_inputs(op, region);
    const std::span<const float> weights = op.input_floats(region.weight);
    const std::vector<double> w(weights.begin(), weights.end());
    const std::int64_t channels = op.view().input(region.weight).type.shape[1];
    const ConvSource& first = region.sources[0];
    // SiLU is within 3 ulp of the largest magnitude; a lift rounds twice more per axis.
    const int load_roundings = first.coefficients || first.upsample ? 6 : 0;
    const double hard =
        kernels::winograd_hard_bound(matrices_, {channels, largest(x), largest(w), load_roundings});
    const double rms_error =
        kernels::winograd_rms_error(matrices_, {channels, rms(x), rms(w), load_roundings});
    const double growth = implementation_->error_growth(op.view());
    return [=](const SampleReport& report, const std::string& what) {
      // Bias, time vector and residual are three roundings of at most the result and themselves.
      const double epilogue = 3 * kFloatRoundoff * (report.max_abs_truth + 3);
      EXPECT_LE(report.max_abs_error, hard + epilogue) << what;
      EXPECT_LE(report.rms_error, 3 * rms_error + epilogue) << what;
      if (report.samples >= 64) {
        EXPECT_LE(report.max_abs_error,
                  growth * sum_bound(static_cast<double>(27 * channels), report.max_abs_truth))
            << what;
      }
    };
  }

  void check(SingleOp& op, const std::string& what) {
    run_and_check(op, *implementation_, isa(), what, within_bounds(op));
  }

  [[nodiscard]] std::vector<float> result_of(SingleOp& op) const {
    EXPECT_TRUE(op.run(*implementation_, machine_with(isa(), 2)).ok());
    const auto y = op.output_floats();
    return {y.begin(), y.end()};
  }

  const WinogradTile winograd_tile_ = std::get<1>(GetParam());
  const kernels::WinogradMatrices matrices_ = kernels::winograd_matrices(winograd_tile_);
  const std::unique_ptr<Implementation> implementation_ = winograd_tile_ == WinogradTile::k2
                                                              ? kernels::make_conv_winograd2()
                                                              : kernels::make_conv_winograd4();
};

TEST_P(WinogradConvs, Plain) {
  for (const ConvCase& c : cases) {
    SingleOp op = plain_conv(c);
    check(op, c.text());
  }
}

TEST_P(WinogradConvs, Epilogues) {
  const ConvCase c{33, 20, {5, 6, 7}, cube3, 1, 1, 2};
  for (const int bits : {0, 1, 2, 4}) {
    SingleOp op = fused_conv(c, {{c.in}, (bits & 1) != 0, (bits & 2) != 0, (bits & 4) != 0});
    check(op, fmt::format("epilogue {}", bits));
  }
  for (const ConvCase& other : std::span(cases).first(5)) {
    SingleOp op = fused_conv(other, {{other.in}, true, true, true});
    check(op, other.text() + " and all epilogues");
  }
}

TEST_P(WinogradConvs, SeveralSources) {
  const std::vector<std::int64_t> forms[] = {{16, 32}, {17, 31}, {1, 3, 44}, {16, 16, 16}};
  for (const auto& sources : forms) {
    const ConvCase c{48, 17, {6, 5, 3}, cube3, 1, 1, 2};
    SingleOp op = fused_conv(c, {sources, true, true, true});
    check(op, fmt::format("{} sources, first {}", sources.size(), sources[0]));
  }
}

std::int64_t sum_of(const std::vector<std::int64_t>& values) {
  return std::accumulate(values.begin(), values.end(), std::int64_t{0});
}

// From one coarse voxel on, with tiles of 4 that end after 2.
TEST_P(WinogradConvs, SourcesDoubledOnLoad) {
  const std::pair<Shape, std::vector<std::int64_t>> forms[] = {
      {{2, 2, 2}, {1}},      {{2, 4, 6}, {48}},   {{10, 2, 8}, {17, 16}},
      {{6, 10, 4}, {3, 64}}, {{14, 6, 10}, {16}}, {{8, 4, 12}, {33, 5}},
  };
  for (const auto& [volume, sources] : forms) {
    const ConvCase c{sum_of(sources), 9, volume, cube3};
    Fused fused{sources, true, true, true};
    fused.upsample = true;
    SingleOp op = fused_conv(c, fused);
    check(op, "doubled, " + c.text());
  }
}

// Padding is zero after scale, shift and SiLU, and SiLU(shift) is not.
TEST_P(WinogradConvs, AffineOnLoad) {
  const std::pair<std::string, std::vector<std::int64_t>> forms[] = {
      {"none", {1}}, {"silu", {64}}, {"none", {17, 16}}, {"silu", {3, 31}}};
  for (const auto& [activation, sources] : forms) {
    const ConvCase c{sum_of(sources), 9, {5, 3, 6}, cube3, 1, 1, 2};
    SingleOp op = fused_conv(c, {sources, true, true, true, activation});
    check(op, fmt::format("{} on load, {}", activation, c.text()));
  }
}

TEST_P(WinogradConvs, InputsOfLargeMean) {
  for (const ConvCase& c : {cases[2], cases[4], cases[9]}) {
    SingleOp op = fused_conv(c, {{c.in}, false, false, true});
    for (float& x : op.input_floats(0)) {
      x = x / 2 + 10;
    }
    check(op, c.text() + ", mean 10");
  }
}

// Sizes of blocks follow the cache; bytes do not.
TEST_P(WinogradConvs, BytesDoNotDependOnTheCache) {
  for (const ConvCase& c :
       {ConvCase{40, 72, {9, 6, 8}, cube3}, ConvCase{16, 8, {13, 12, 19}, cube3, 1, 1, 2}}) {
    SingleOp op = fused_conv(c, {{c.in}, true, true, true});
    std::vector<std::byte> expected;
    for (std::int64_t l2 = std::int64_t{1} << 18; l2 <= std::int64_t{1} << 22; l2 *= 4) {
      for (const int threads : {1, 4}) {
        Machine machine = machine_with(isa(), threads);
        machine.l2_bytes = l2;
        ASSERT_TRUE(op.run(*implementation_, machine).ok());
        std::vector<std::byte> bytes(op.output_bytes().begin(), op.output_bytes().end());
        bytes.insert(bytes.end(), op.output_bytes(1).begin(), op.output_bytes(1).end());
        if (expected.empty()) {
          expected = bytes;
        }
        EXPECT_TRUE(bytes == expected) << c.text() << ", " << l2 << " bytes, " << threads;
      }
    }
  }
}

// Large enough to be written past the caches.
TEST_P(WinogradConvs, LargeResults) {
  const ConvCase c{1, 96, {41, 40, 42}, cube3};
  SingleOp op = fused_conv(c, {{c.in}, false, true, true});
  check(op, c.text());
  expect_moments(op, 1, c.text());
}

// Per axis: whether an output is computed from an input, in F(m, 3) rather than directly.
bool reads(const kernels::WinogradMatrices& matrices, std::int64_t output, std::int64_t input) {
  const std::int64_t i = input - (output / matrices.outputs * matrices.outputs - 1);
  bool any = false;
  for (int j = 0; j < matrices.inputs && i >= 0 && i < matrices.inputs; ++j) {
    any = any || (matrices.output[output % matrices.outputs][j] != 0 && matrices.input[j][i] != 0);
  }
  return any;
}

// A NaN or an infinity spoils what a direct convolution would spoil, and of the tiles that read it
// whatever their sums contain it in; all else keeps its bytes.
TEST_P(WinogradConvs, NanAndInfinitySpreadWithinTheirTiles) {
  const ConvCase c{20, 20, {9, 9, 9}, cube3};
  constexpr std::int64_t kAt = 3;
  SingleOp op = plain_conv(c);
  const std::vector<float> clean = result_of(op);
  float& voxel = op.input_floats(0)[((kAt * 9 + kAt) * 9 + kAt) * 20 + 7];
  for (const float value : {std::nanf(""), std::numeric_limits<float>::infinity()}) {
    voxel = value;
    const std::vector<float> y = result_of(op);
    for (std::int64_t i = 0; i < 9 * 9 * 9; ++i) {
      bool spoilt = true;
      bool spoilt_directly = true;
      for (const std::int64_t output : {i / 81, i / 9 % 9, i % 9}) {
        spoilt = spoilt && reads(matrices_, output, kAt);
        spoilt_directly = spoilt_directly && std::abs(output - kAt) <= 1;
      }
      ASSERT_TRUE(spoilt || !spoilt_directly);
      for (std::int64_t o = 0; o < 20; ++o) {
        const auto at = static_cast<std::size_t>(i * 20 + o);
        if (spoilt) {
          ASSERT_FALSE(std::isfinite(y[at])) << value << " at " << i;
        } else {
          ASSERT_EQ(y[at], clean[at]) << value << " at " << i;
        }
      }
    }
  }
}

TEST_P(WinogradConvs, SayWhyNot) {
  SingleOp strided = plain_conv({16, 16, {4, 4, 4}, cube3, 2});
  SingleOp pointwise = plain_conv({16, 16, {4, 4, 4}, cube1, 1, 0});
  for (const SingleOp* op : {&strided, &pointwise}) {
    EXPECT_EQ(implementation_->refusal(op->view(), {machine_with(isa(), 1)}),
              "made for 3x3x3 kernels with stride 1 and padding 1");
  }
  SingleOp plain = plain_conv(cases[0]);
  const Target strict{machine_with(isa(), 1), Precision::kStrict};
  EXPECT_EQ(implementation_->refusal(plain.view(), strict).has_value(), tile() == 4);
}

INSTANTIATE_TEST_SUITE_P(Isa, WinogradConvs,
                         ::testing::Combine(::testing::ValuesIn(runnable_isas()),
                                            ::testing::Values(WinogradTile::k2, WinogradTile::k4)),
                         [](const auto& parameter) {
                           return fmt::format("{}_F{}", name_of(std::get<0>(parameter.param)),
                                              static_cast<int>(std::get<1>(parameter.param)));
                         });

}  // namespace
}  // namespace mezzotint::testing
