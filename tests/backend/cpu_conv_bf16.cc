// onednn.conv_bf16: on operands that bfloat16 holds it is a float32 convolution, and others it
// rounds, once each.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "backend/conv_op.h"
#include "backend/cpu/onednn/onednn_ops.h"
#include "base/dtype.h"
#include "support/tolerance.h"

namespace mezzotint::testing {
namespace {

class OnednnConvBf16 : public ::testing::Test {
 protected:
  void SetUp() override {
    SingleOp op = plain_conv({16, 16, {3, 3, 3}, cube3});
    const Status status = op.run(*conv_, machine(1));
    if (!status) {
      GTEST_SKIP() << status.error().message;
    }
  }

  static Machine machine(int threads) { return machine_with(runnable_isas().back(), threads); }

  const std::unique_ptr<Implementation> conv_ = make_onednn_conv_bf16();
};

void round_to_bf16(std::span<float> values) {
  std::ranges::transform(values, values.begin(),
                         [](float value) { return float_from_bf16(bf16_from_float(value)); });
}

// Awkward sizes: primes, ones, channels that fill no vector, both edges in one block, strides that
// leave rows unread, blocks of several rows and planes.
std::vector<ConvCase> cases() {
  return {{1, 16, {1, 1, 1}, cube3},
          {1, 32, {5, 4, 7}, cube3},
          {3, 64, {6, 5, 9}, cube3, 1, 1, 2},
          {37, 41, {3, 7, 11}, cube3},
          {37, 41, {7, 3, 5}, cube3, 2, 1},
          {13, 17, {8, 4, 6}, cube3, 1, 0},
          {16, 16, {5, 6, 7}, {2, 2, 2}, 2, 0},
          {16, 24, {5, 6, 7}, {2, 3, 1}},
          {32, 32, {4, 5, 6}, cube1, 1, 0, 3},
          {7, 19, {4, 5, 6}, cube1, 2, 1},
          {32, 48, {4, 5, 6}, cube1, 1, 1, 1, false},
          {128, 64, {3, 37, 64}, cube3},
          {64, 64, {70, 2, 3}, cube3, 2, 1},
          {3, 17, {4, 4, 4}, cube3, 2, 0},
          {3, 17, {68, 4, 3}, cube1, 2, 0},
          {64, 17, {11, 3, 23}, {2, 2, 2}, 2, 0}};
}

TEST_F(OnednnConvBf16, IsExactButForItsSumsOnOperandsThatNeedNoRounding) {
  for (const ConvCase& c : cases()) {
    SingleOp op = plain_conv(c);
    round_to_bf16(op.input_floats(0));
    round_to_bf16(op.input_floats(1));
    const Status status = op.run(*conv_, machine(2));
    ASSERT_TRUE(status.ok()) << c.text() << ": " << status.error().message;
    expect_within_sum_bound(op.check(), c.terms(), c.text());
  }
}

// The estimate behind error_growth() takes each rounding as large as it can be within its power of
// two; uniform operands meet a half of it or more.
TEST_F(OnednnConvBf16, RoundsOtherOperandsOnceEach) {
  const double estimate = kBf16Roundoff * std::sqrt(2.0 / 3.0);
  for (const ConvCase& c : cases()) {
    SingleOp op = plain_conv(c);
    ASSERT_TRUE(op.run(*conv_, machine(2)).ok()) << c.text();
    const SampleReport report = op.check();
    const double bound = conv_->error_growth(op.view()) *
                         sum_bound(static_cast<double>(c.terms()), report.max_abs_truth);
    EXPECT_LE(report.max_abs_error, bound) << c.text();
    if (c.volume.elements() > 1) {  // a single product may need next to no rounding
      EXPECT_GT(report.relative_l2, estimate / 8) << c.text();
    }
    EXPECT_LE(report.relative_l2, estimate) << c.text();
    EXPECT_LT(bound, 4.5 * kBf16Roundoff * report.max_abs_truth) << c.text();
  }
}

TEST_F(OnednnConvBf16, RoundsTiesToEven) {
  SingleOp op = plain_conv({1, 16, {1, 1, 4}, cube1, 1, 0, 1, false});
  const float steps[] = {1.0F, 1.0F + 0x1p-8F, 1.0F + 3 * 0x1p-8F, -1.0F - 0x1.8p-8F};
  std::ranges::copy(steps, op.input_floats(0).begin());
  std::ranges::fill(op.input_floats(1), 1.0F + 0x1p-8F);
  ASSERT_TRUE(op.run(*conv_, machine(1)).ok());
  const float expected[] = {1.0F, 1.0F, 1.0F + 0x1p-6F, -1.0F - 0x1p-7F};
  for (std::size_t i = 0; i < 4 * 16; ++i) {
    EXPECT_EQ(op.output_floats()[i], expected[i / 16]) << i;
  }
}

TEST_F(OnednnConvBf16, FusesWhatTheFloat32OneFuses) {
  const Fused forms[] = {{{48}, true, false},    {{48}, false, true},
                         {{48}, true, true},     {{16, 32}, false, false},
                         {{17, 31}, true, true}, {{16, 16, 16}, false, true}};
  for (const Fused& fused : forms) {
    const ConvCase c{48, 40, {5, 6, 7}, cube3, 1, 1, 2};
    SingleOp op = fused_conv(c, fused);
    for (std::size_t i = 0; i <= fused.sources.size(); ++i) {
      round_to_bf16(op.input_floats(i));
    }
    const std::string what = fmt::format("{} sources, time vector {}, residual {}",
                                         fused.sources.size(), fused.time_vector, fused.residual);
    const Status status = op.run(*conv_, machine(2));
    ASSERT_TRUE(status.ok()) << what << ": " << status.error().message;
    expect_within_sum_bound(op.check(), c.terms(), what);
  }
}

TEST_F(OnednnConvBf16, BytesDoNotDependOnThreadsNorOnSharedMemory) {
  std::vector<SingleOp> ops;
  for (const ConvCase& c :
       {ConvCase{64, 64, {5, 40, 32}, cube3}, ConvCase{37, 41, {9, 7, 5}, cube3},
        ConvCase{64, 96, {16, 16, 16}, cube3, 2}, ConvCase{96, 64, {8, 20, 32}, cube1, 1, 0}}) {
    ops.push_back(plain_conv(c));
  }
  ops.push_back(fused_conv({96, 64, {9, 10, 11}, cube3, 1, 1, 2}, {{64, 32}, true, true}));
  constexpr std::size_t kResidual = 5;
  for (SingleOp& op : ops) {
    ASSERT_TRUE(op.run(*conv_, machine(1)).ok());
    const std::vector<float> expected(op.output_floats().begin(), op.output_floats().end());
    for (const int threads : {2, 3, 4}) {
      ASSERT_TRUE(op.run(*conv_, machine(threads)).ok());
      EXPECT_TRUE(std::ranges::equal(expected, op.output_floats())) << threads << " threads";
    }
    if (op.view().op.kind == OpKind::region) {
      ASSERT_TRUE(op.run(*conv_, machine(2), kResidual).ok());
      EXPECT_TRUE(std::ranges::equal(expected, op.output_floats()));
    }
  }
}

TEST_F(OnednnConvBf16, HoldsHalfTheWeightsAndFewRowsOfItsSource) {
  SingleOp op = plain_conv({64, 64, {64, 64, 64}, cube3});
  const Target target{machine(2), Precision::kFast};
  const auto kernel = conv_->prepare(op.view(), target);
  ASSERT_TRUE(kernel.ok());
  constexpr std::size_t kWeights = 64 * 64 * 27;
  EXPECT_EQ((*kernel)->packed_bytes(), kWeights * 2 + 64 * sizeof(float));
  // Of 64 MiB, each of two workers has 3 planes of 18 rows in two bytes a value.
  constexpr std::size_t kGathered = 3 * 18 * 64 * 64 * 2;
  EXPECT_GE((*kernel)->workspace_bytes(), 2 * kGathered);
  EXPECT_LT((*kernel)->workspace_bytes(), 2 * kGathered + (std::size_t{1} << 17));
  // 64 planes of 4 blocks, of which those at an edge lack a plane or a row.
  constexpr double kConverted = (64 * 3 - 2) * (4 * 18 - 2) * 64.0 * 64 * (4 + 2);
  const Work work = conv_->work(op.view(), target);
  EXPECT_EQ(work.bytes, kConverted + kWeights * 2 + 64 * 4 + 64.0 * 64 * 64 * 64 * 4);
  EXPECT_NE(work.unit, MathUnit::kFma);
}

TEST(OnednnConvBf16Refusals, SaysWhyNot) {
  const auto conv = make_onednn_conv_bf16();
  SingleOp op = plain_conv({16, 16, {4, 4, 4}, cube3});
  Machine machine;
  machine.isa = Isa::kAvx512;
  EXPECT_EQ(conv->refusal(op.view(), {machine, Precision::kStrict}),
            "bfloat16 operands round more than strict allows; they are for fast");
  EXPECT_EQ(conv->refusal(op.view(), {machine, Precision::kFp32}),
            "bfloat16 operands round more than fp32 allows; they are for fast");
  EXPECT_EQ(conv->refusal(op.view(), {machine, Precision::kFast}), "no bf16 unit on this machine");
  machine.isa = Isa::kAvx2;
  machine.avx512_bf16 = true;
  EXPECT_EQ(conv->refusal(op.view(), {machine, Precision::kFast}), "no bf16 unit on this machine");
}

}  // namespace
}  // namespace mezzotint::testing
