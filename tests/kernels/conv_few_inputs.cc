// The convolution of few input channels, with everything fused into it.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numeric>

#include "backend/conv_op.h"
#include "backend/cpu/kernels/kernel_ops.h"
#include "kernels/check_kernel.h"

namespace mezzotint::testing {
namespace {

using kernels::make_conv_few_inputs;

class ConvFewInputs : public ::testing::TestWithParam<Isa> {
 protected:
  std::optional<std::string> refusal(const SingleOp& op, const Implementation& implementation) {
    return implementation.refusal(op.view(), {machine_with(GetParam(), 1)});
  }
};

// Sizes 1 and around tiles of 6 positions; channels below, at and beyond vectors and panels.
const ConvCase few_inputs[] = {
    {1, 1, {1, 1, 1}, cube3},
    {3, 64, {4, 5, 6}, cube3},
    {1, 16, {3, 2, 7}, cube3},
    {5, 17, {2, 3, 13}, cube3, 1, 1, 2},
    {8, 130, {3, 1, 5}, cube3},
    {3, 33, {1, 7, 12}, cube3},
    {2, 48, {5, 2, 1}, cube3},
    {4, 64, {3, 11, 19}, cube3, 1, 1, 2},
    {3, 512, {2, 25, 6}, cube3},  // two blocks of rows in a plane
    {3, 3, {3, 3, 3}, cube3, 1, 1, 1, false},
};

TEST_P(ConvFewInputs, Plain) {
  for (const ConvCase& c : few_inputs) {
    SingleOp op = plain_conv(c);
    run_and_check(op, *make_conv_few_inputs(), GetParam(), c.text(), within_sum_bound(c.terms()));
  }
}

TEST_P(ConvFewInputs, FromSeveralSourcesOfEitherLayout) {
  for (const Layout layout : {Layout::kChannelsLast, Layout::kRowMajor}) {
    for (const std::vector<std::int64_t>& sources :
         {std::vector<std::int64_t>{1, 2}, {4, 4}, {1, 1, 3}, {3}}) {
      const std::int64_t in = std::accumulate(sources.begin(), sources.end(), std::int64_t{0});
      const ConvCase c{in, 35, {4, 3, 8}, cube3, 1, 1, 2};
      SingleOp op = fused_conv(c, {sources, false, false, false, std::nullopt, layout});
      run_and_check(op, *make_conv_few_inputs(), GetParam(),
                    fmt::format("{} sources, {}", sources.size(), name_of(layout)),
                    within_sum_bound(c.terms()));
    }
  }
}

TEST_P(ConvFewInputs, WithEpilogue) {
  for (const ConvCase& c : few_inputs) {
    for (const int bits : {1, 2, 4, 7}) {
      SingleOp op = fused_conv(c, {{c.in}, (bits & 1) != 0, (bits & 2) != 0, (bits & 4) != 0});
      run_and_check(op, *make_conv_few_inputs(), GetParam(), fmt::format("{} {}", c.text(), bits),
                    within_sum_bound(c.terms() + 2));
    }
  }
}

TEST_P(ConvFewInputs, PassesNanAndInfinityOn) {
  const ConvCase c{3, 20, {5, 5, 5}, cube3};
  SingleOp op = fused_conv(c, {{3}, false, false, true});
  op.input_floats(0)[(2 * 25 + 2 * 5 + 2) * 3] = std::nanf("");
  op.input_floats(0)[0] = std::numeric_limits<float>::infinity();
  ASSERT_TRUE(op.run(*make_conv_few_inputs(), machine_with(GetParam(), 2)).ok());
  const auto y = op.output_floats();
  for (std::int64_t i = 0; i < 125; ++i) {
    const std::int64_t z = i / 25;
    const std::int64_t h = i / 5 % 5;
    const std::int64_t w = i % 5;
    const bool near_nan = std::abs(z - 2) <= 1 && std::abs(h - 2) <= 1 && std::abs(w - 2) <= 1;
    const bool near_infinity = z <= 1 && h <= 1 && w <= 1;
    for (std::int64_t o = 0; o < 20; ++o) {
      const float value = y[static_cast<std::size_t>(i * 20 + o)];
      EXPECT_EQ(std::isnan(value), near_nan) << i << " " << o;
      EXPECT_EQ(std::isfinite(value), !near_nan && !near_infinity) << i << " " << o;
    }
  }
  const auto* moments = reinterpret_cast<const double*>(op.output_bytes(1).data());
  EXPECT_TRUE(std::isnan(moments[0]));
  EXPECT_TRUE(std::isnan(moments[1]));
}

TEST_P(ConvFewInputs, SaysWhyNot) {
  const auto few = make_conv_few_inputs();
  EXPECT_EQ(refusal(plain_conv({9, 8, {4, 4, 4}, cube3}), *few),
            "made for at most 8 input channels, has 9");
  EXPECT_EQ(refusal(plain_conv({3, 8, {4, 4, 4}, cube3, 2}), *few),
            "made for 3x3x3 kernels with stride 1 and padding 1");
  EXPECT_EQ(refusal(fused_conv({3, 8, {4, 4, 4}, cube3}, {{3}, false, false, false, "silu"}), *few),
            "computes plain sources, nothing done while loading");
}

INSTANTIATE_TEST_SUITE_P(Isa, ConvFewInputs, ::testing::ValuesIn(runnable_isas()),
                         [](const auto& parameter) {
                           return std::string(name_of(parameter.param));
                         });

}  // namespace
}  // namespace mezzotint::testing
