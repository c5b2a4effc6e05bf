// Our own kernels on every instruction set of this machine, against the law. An executable of its
// own, without the vendor library, so that it runs under an emulated Haswell too.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "backend/conv_op.h"
#include "backend/cpu/kernels/kernel_ops.h"
#include "backend/single_op.h"
#include "kernels/check_kernel.h"

namespace mezzotint::testing {
namespace {

using kernels::make_add;
using kernels::make_add_channels;
using kernels::make_affine;
using kernels::make_attention;
using kernels::make_channel_moments;
using kernels::make_concat;
using kernels::make_conv_few_outputs;
using kernels::make_group_norm_coefficients;
using kernels::make_linear;
using kernels::make_reorder;
using kernels::make_select_rows;
using kernels::make_silu;
using kernels::make_timestep_embedding;
using kernels::make_upsample_trilinear;

constexpr Layout kLast = Layout::kChannelsLast;
constexpr Layout kEitherLayout[] = {Layout::kChannelsLast, Layout::kRowMajor};

// Sizes 1, primes, and neither multiples of a vector nor of a block.
const Shape volumes[] = {
    {1, 1, 1, 1, 1},  {2, 3, 5, 7, 3},   {1, 13, 7, 3, 5}, {2, 16, 3, 2, 5},
    {1, 33, 4, 5, 3}, {1, 509, 2, 3, 1}, {2, 64, 9, 8, 7}, {1, 192, 5, 6, 7},
};

std::string described(const Shape& shape, Layout layout) {
  return fmt::format("{} {} ", shape.to_string(), name_of(layout));
}

class Kernels : public ::testing::TestWithParam<Isa> {
 protected:
  void run_and_check(SingleOp& op, const Implementation& implementation, const std::string& what,
                     const Judge& judge) {
    testing::run_and_check(op, implementation, GetParam(), what, judge);
  }
};

TEST_P(Kernels, Add) {
  for (const Shape& shape : volumes) {
    SingleOp op;
    op.input(shape, kLast);
    op.input(shape, kLast);
    op.op(OpKind::add, {});
    run_and_check(op, *make_add(), shape.to_string(), within_ulps(0.5));
  }
}

TEST_P(Kernels, AddChannels) {
  for (const Layout layout : kEitherLayout) {
    for (const Shape& shape : volumes) {
      SingleOp op;
      op.input(shape, layout);
      op.input({shape[0], shape[1]}, Layout::kRowMajor);
      op.op(OpKind::add_channels, {});
      run_and_check(op, *make_add_channels(), described(shape, layout), within_ulps(0.5));
    }
  }
}

TEST_P(Kernels, Affine) {
  for (const Layout layout : kEitherLayout) {
    for (const Shape& shape : volumes) {
      for (const std::string activation : {"none", "silu"}) {
        SingleOp op;
        op.input(shape, layout, -3, 3);
        op.input({shape[0], shape[1] + 5, 2}, Layout::kRowMajor, -3, 3);
        op.op(OpKind::affine, {{"activation", activation}, {"channel_offset", std::int64_t{3}}});
        run_and_check(op, *make_affine(), described(shape, layout) + activation, within_ulps(3));
      }
    }
  }
}

TEST_P(Kernels, SiluOnVolumesAndVectors) {
  for (const Shape& shape : volumes) {
    SingleOp op;
    op.input(shape, kLast, -9, 9);
    op.op(OpKind::silu, {});
    run_and_check(op, *make_silu(), shape.to_string(), within_ulps(2));
  }
}

// Each value within 4 of its own ulps, from -88 (where e^-x leaves the range of float32) upwards.
TEST_P(Kernels, SiluIsAccurateEverywhere) {
  constexpr std::int64_t kCount = 100'003;
  SingleOp op;
  op.input({kCount}, Layout::kRowMajor);
  op.op(OpKind::silu, {});
  const std::span<float> x = op.input_floats(0);
  for (std::int64_t i = 0; i < kCount; ++i) {
    x[static_cast<std::size_t>(i)] =
        i % 2 == 0 ? -88.0F + 176.0F * static_cast<float>(i) / kCount
                   : std::ldexp(i % 4 == 1 ? 1.0F : -1.0F, static_cast<int>(i % 107) - 100);
  }
  ASSERT_TRUE(op.run(*make_silu(), machine_with(GetParam(), 2)).ok());
  double worst = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double truth = x[i] / (1.0 + std::exp(-static_cast<double>(x[i])));
    const double ulp = std::ldexp(1.0, std::max(std::ilogb(truth), -126) - 23);
    worst = std::max(worst, std::abs(op.output_floats()[i] - truth) / ulp);
  }
  EXPECT_LE(worst, 4.0);
}

TEST_P(Kernels, SiluOfExtremesIsFiniteAndNanStays) {
  SingleOp op;
  op.input({6}, Layout::kRowMajor);
  op.op(OpKind::silu, {});
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  const float values[] = {-1000.0F, -3e38F, -kInfinity, kInfinity, std::nanf(""), 0.0F};
  std::ranges::copy(values, op.input_floats(0).begin());
  ASSERT_TRUE(op.run(*make_silu(), machine_with(GetParam(), 1)).ok());
  const auto y = op.output_floats();
  for (const std::size_t i : {0U, 1U, 2U}) {
    EXPECT_EQ(y[i], 0.0F) << values[i];
    EXPECT_TRUE(std::signbit(y[i])) << values[i];
  }
  EXPECT_EQ(y[3], kInfinity);
  EXPECT_TRUE(std::isnan(y[4]));
  EXPECT_EQ(y[5], 0.0F);
}

TEST_P(Kernels, ChannelMoments) {
  for (const Layout layout : kEitherLayout) {
    for (const Shape& shape : volumes) {
      SingleOp op;
      op.input(shape, layout, -1, 2);
      op.op(OpKind::channel_moments, {});
      run_and_check(op, *make_channel_moments(), described(shape, layout),
                    [](const SampleReport& report, const std::string& what) {
                      EXPECT_LE(report.max_abs_error, 1e-14 * report.max_abs_truth) << what;
                    });
    }
  }
}

// Many blocks; means of 30 deviations, where float32 sums would be off by 2e-3.
TEST_P(Kernels, ChannelMomentsOfLargeMeans) {
  constexpr std::int64_t kChannels = 3;
  constexpr std::int64_t kSide = 110;
  const float deviation = 1.0F / std::sqrt(12.0F);
  SingleOp op;
  op.input({1, kChannels, kSide, kSide, kSide}, kLast, 30 * deviation, 30 * deviation + 1);
  op.op(OpKind::channel_moments, {});
  ASSERT_TRUE(op.run(*make_channel_moments(), machine_with(GetParam(), 2)).ok());
  const std::span<const float> x = op.input_floats(0);
  const auto* moments = reinterpret_cast<const double*>(op.output_bytes().data());
  for (std::size_t c = 0; c < kChannels; ++c) {
    long double mean = 0;
    long double variance = 0;
    constexpr std::size_t kPositions = kSide * kSide * kSide;
    for (std::size_t i = c; i < x.size(); i += kChannels) {
      mean += x[i];
    }
    mean /= kPositions;
    for (std::size_t i = c; i < x.size(); i += kChannels) {
      variance += (x[i] - mean) * (x[i] - mean);
    }
    variance /= kPositions;
    EXPECT_NEAR(moments[2 * c], static_cast<double>(mean), 1e-13);
    EXPECT_NEAR(moments[2 * c + 1], static_cast<double>(variance), 1e-11);
  }
}

TEST_P(Kernels, GroupNormCoefficients) {
  for (const auto& [channels, groups] : {std::pair{32, 32}, {64, 32}, {96, 32}, {15, 5}, {1, 1}}) {
    SingleOp op;
    op.moments(2, channels);
    op.parameter({channels});
    op.parameter({channels});
    op.op(OpKind::group_norm_coefficients, {{"groups", std::int64_t{groups}}, {"eps", 1e-5}});
    // The shift is computed for the rounded scale: half an ulp of the scale times a mean below 1.
    run_and_check(op, *make_group_norm_coefficients(), fmt::format("{}/{}", channels, groups),
                  within_ulps(1));
  }
}

TEST_P(Kernels, UpsampleTrilinear) {
  // Rows longer than vectors, which row-major order makes of positions.
  std::vector<Shape> shapes(std::begin(volumes), std::end(volumes));
  for (const std::int64_t width : {15, 16, 17, 18, 33, 64}) {
    shapes.push_back({1, 2, 3, 2, width});
  }
  for (const Layout layout : kEitherLayout) {
    for (const Shape& shape : shapes) {
      SingleOp op;
      op.input(shape, layout);
      op.op(OpKind::upsample_trilinear, {});
      run_and_check(op, *make_upsample_trilinear(), described(shape, layout), within_ulps(2));
    }
  }
}

TEST_P(Kernels, Attention) {
  struct Case {
    std::int64_t heads;
    std::int64_t channels;  // of a head
    Shape volume;
  };
  const Case cases[] = {{1, 1, {1, 1, 1}}, {1, 64, {4, 4, 4}},  {4, 16, {3, 5, 7}},
                        {3, 5, {2, 3, 4}}, {1, 192, {3, 3, 3}}, {2, 33, {6, 5, 4}}};
  for (const Case& c : cases) {
    const std::int64_t tokens = c.volume.elements();
    SingleOp op;
    op.input({2, 3 * c.heads * c.channels, c.volume[0], c.volume[1], c.volume[2]}, kLast, -2, 2);
    op.op(OpKind::attention, {{"heads", c.heads}});
    // Errors of the scores enter through their exponentials, those of the weighted sum directly.
    run_and_check(op, *make_attention(), fmt::format("{} x {}, {}", c.heads, c.channels, tokens),
                  within_sum_bound(tokens + 16 * c.channels));
  }
}

TEST_P(Kernels, AttentionPassesNanOn) {
  SingleOp op;
  op.input({1, 48, 3, 3, 3}, kLast);
  op.op(OpKind::attention, {});
  op.input_floats(0)[5] = std::nanf("");  // in the query of the first token
  ASSERT_TRUE(op.run(*make_attention(), machine_with(GetParam(), 1)).ok());
  EXPECT_TRUE(std::isnan(op.output_floats()[0]));
  EXPECT_FALSE(std::isnan(op.output_floats()[16]));
}

TEST_P(Kernels, ConvFewOutputs) {
  for (const std::int64_t outputs : {1, 2, 3, 4}) {
    for (const Shape& volume : volumes) {
      SingleOp op;
      op.input(volume, kLast);
      op.parameter({outputs, volume[1], 3, 3, 3});
      if (outputs != 2) {
        op.parameter({outputs});
      }
      op.op(OpKind::conv3d, {{"padding", std::int64_t{1}}});
      run_and_check(op, *make_conv_few_outputs(),
                    fmt::format("{} <- {}", outputs, volume.to_string()),
                    within_sum_bound(27 * volume[1]));
    }
  }
}

TEST_P(Kernels, ConvFewOutputsIntoRowMajor) {
  for (const std::int64_t outputs : {1, 2, 3, 4}) {
    const ConvCase c{33, outputs, {4, 5, 11}, cube3, 1, 1, 2};
    Fused fused{{33}};
    fused.result_layout = Layout::kRowMajor;
    SingleOp op = fused_conv(c, fused);
    run_and_check(op, *make_conv_few_outputs(), c.text(), within_sum_bound(c.terms()));
  }
}

TEST_P(Kernels, ConvFewOutputsSaysWhyNot) {
  SingleOp wide;
  wide.input({1, 8, 4, 4, 4}, kLast);
  wide.parameter({5, 8, 3, 3, 3});
  wide.op(OpKind::conv3d, {{"padding", std::int64_t{1}}});
  EXPECT_EQ(make_conv_few_outputs()->refusal(wide.view(), {machine_with(GetParam(), 1)}),
            "made for at most 4 output channels, has 5");
  SingleOp strided;
  strided.input({1, 8, 4, 4, 4}, kLast);
  strided.parameter({1, 8, 3, 3, 3});
  strided.op(OpKind::conv3d, {{"padding", std::int64_t{1}}, {"stride", std::int64_t{2}}});
  EXPECT_EQ(make_conv_few_outputs()->refusal(strided.view(), {machine_with(GetParam(), 1)}),
            "made for 3x3x3 kernels with stride 1 and padding 1");
}

TEST_P(Kernels, Concat) {
  for (const Layout layout : {Layout::kRowMajor, kLast}) {
    SingleOp op;
    for (const std::int64_t channels : {1, 2, 17}) {
      op.input({2, channels, 5, 4, 3}, layout);
    }
    op.op(OpKind::concat, {});
    run_and_check(op, *make_concat(), std::string(name_of(layout)), within_ulps(0));
  }
}

TEST_P(Kernels, Reorder) {
  for (const Shape& shape : volumes) {
    for (const Layout from : {Layout::kRowMajor, kLast}) {
      for (const Layout to : {Layout::kRowMajor, kLast}) {
        SingleOp op;
        op.input(shape, from);
        op.op(OpKind::reorder, {{"layout", std::string(name_of(to))}});
        run_and_check(op, *make_reorder(), shape.to_string(), within_ulps(0));
      }
    }
  }
}

TEST_P(Kernels, Linear) {
  for (const auto& [in, out] : {std::pair{1, 1}, {64, 256}, {257, 67}, {3, 512}}) {
    for (const bool bias : {false, true}) {
      SingleOp op;
      op.input({3, in}, Layout::kRowMajor);
      op.parameter({out, in});
      if (bias) {
        op.parameter({out});
      }
      op.op(OpKind::linear, {});
      run_and_check(op, *make_linear(), fmt::format("{} -> {}", in, out), within_ulps(0.5));
    }
  }
}

TEST_P(Kernels, TimestepEmbedding) {
  for (const std::int64_t dim : {1, 2, 33, 64}) {
    SingleOp op;
    op.input({4}, Layout::kRowMajor, 0, 249);
    op.op(OpKind::timestep_embedding, {{"dim", dim}, {"max_period", 1000.0}});
    run_and_check(op, *make_timestep_embedding(), fmt::format("dim {}", dim), within_ulps(0.51));
  }
}

TEST_P(Kernels, SelectRows) {
  constexpr std::int32_t kIndex[] = {4, 0, 4, 2};
  for (const Layout layout : {Layout::kRowMajor, kLast}) {
    SingleOp op;
    op.input({5, 3, 2, 1, 7}, layout);
    op.indices(kIndex);
    op.op(OpKind::select_rows, {});
    run_and_check(op, *make_select_rows(), std::string(name_of(layout)), within_ulps(0));
  }
}

// A table of time vectors holds what each step would compute for itself: no row's bits depend on
// its place, nor on how many there are. Widths leave vectors that straddle rows.
TEST_P(Kernels, RowsDoNotDependOnTheirNumber) {
  constexpr std::int64_t kRows = 5;
  const auto expect_rows = [&](const Implementation& implementation,
                               const std::function<void(SingleOp&, std::int64_t)>& build) {
    SingleOp all;
    build(all, kRows);
    ASSERT_TRUE(all.run(implementation, machine_with(GetParam(), 2)).ok());
    const std::span<const float> x = all.input_floats(0);
    const std::span<const float> y = all.output_floats();
    for (std::size_t row = 0; row < kRows; ++row) {
      SingleOp one;
      build(one, 1);
      std::ranges::copy(x.subspan(row * x.size() / kRows, x.size() / kRows),
                        one.input_floats(0).begin());
      ASSERT_TRUE(one.run(implementation, machine_with(GetParam(), 1)).ok());
      EXPECT_TRUE(std::ranges::equal(
          std::as_bytes(y.subspan(row * y.size() / kRows, y.size() / kRows)), one.output_bytes()))
          << implementation.name() << ", row " << row;
    }
  };
  expect_rows(*make_timestep_embedding(), [](SingleOp& op, std::int64_t rows) {
    op.input({rows}, Layout::kRowMajor, 0, 249);
    op.op(OpKind::timestep_embedding, {{"dim", std::int64_t{33}}, {"max_period", 1000.0}});
  });
  expect_rows(*make_linear(), [](SingleOp& op, std::int64_t rows) {
    op.input({rows, 67}, Layout::kRowMajor);
    op.parameter({131, 67});
    op.parameter({131});
    op.op(OpKind::linear, {});
  });
  expect_rows(*make_silu(), [](SingleOp& op, std::int64_t rows) {
    op.input({rows, 67}, Layout::kRowMajor, -9, 9);
    op.op(OpKind::silu, {});
  });
}

TEST_P(Kernels, AttentionRefusesRowMajorActivations) {
  SingleOp op;
  op.input({1, 9, 4, 4, 4}, Layout::kRowMajor);
  op.op(OpKind::attention, {});
  EXPECT_EQ(make_attention()->refusal(op.view(), {machine_with(GetParam(), 1)}),
            "qkv must be channels_last, is row_major [1, 9, 4, 4, 4]");
}

INSTANTIATE_TEST_SUITE_P(Isa, Kernels, ::testing::ValuesIn(runnable_isas()),
                         [](const auto& parameter) {
                           return std::string(name_of(parameter.param));
                         });

}  // namespace
}  // namespace mezzotint::testing
