// What implementations say they do, against counts by hand.
#include <gtest/gtest.h>

#include <memory>
#include <string_view>

#include "backend/conv_op.h"
#include "backend/cpu/cpu_backend.h"

namespace mezzotint::testing {
namespace {

class WorkTest : public ::testing::Test {
 protected:
  [[nodiscard]] Work work(const SingleOp& op, std::string_view name) const {
    Machine machine;
    machine.isa = Isa::kAvx512;
    for (const Implementation* implementation : backend_->implementations(op.view().op.kind)) {
      if (implementation->name() == name) {
        return implementation->work(op.view(), {machine, Precision::kFp32});
      }
    }
    ADD_FAILURE() << "there is no " << name;
    return {};
  }

 private:
  const std::unique_ptr<Backend> backend_ = make_cpu_backend();
};

// Of 12 pairs of an output and a tap along an axis of 4, two have the padding for an input.
TEST_F(WorkTest, DirectConvolutionsLeaveOutTheirPadding) {
  const SingleOp op = plain_conv({16, 32, {4, 4, 4}, cube3});
  const Work direct = work(op, "onednn.conv");
  EXPECT_EQ(direct.flops, 2.0 * 10 * 10 * 10 * 16 * 32);
  EXPECT_EQ(direct.priced_flops, 2.0 * 12 * 12 * 12 * 16 * 32);
  EXPECT_EQ(direct.unit, MathUnit::kFma);
  // 1, 2 and 3 long: 1, 4 and 7 pairs; two samples.
  EXPECT_EQ(work(plain_conv({16, 32, {1, 2, 3}, cube3, 1, 1, 2}), "onednn.conv").flops,
            2.0 * 2 * 1 * 4 * 7 * 16 * 32);
  // Stride 2 takes the outputs 0 and 2 of 4: 2 and 3 taps. Of 5: 0, 2 and 4, with 2, 3 and 2.
  EXPECT_EQ(work(plain_conv({16, 32, {4, 4, 5}, cube3, 2}), "onednn.conv").flops,
            2.0 * 5 * 5 * 7 * 16 * 32);
}

TEST_F(WorkTest, A1x1x1HasNoPadding) {
  const SingleOp op = plain_conv({64, 32, {2, 3, 4}, cube1, 1, 0});
  EXPECT_EQ(work(op, "onednn.conv").flops, 2.0 * 24 * 64 * 32);
  EXPECT_EQ(work(op, "onednn.conv").priced_flops, 2.0 * 24 * 64 * 32);
}

// Few inputs fill vectors badly: that is a price, not work.
TEST_F(WorkTest, FewInputsArePricedAndNotCountedMore) {
  const SingleOp op = plain_conv({2, 16, {4, 4, 4}, cube3});
  const Work library = work(op, "onednn.conv");
  EXPECT_EQ(library.flops, 2.0 * 1000 * 2 * 16);
  EXPECT_DOUBLE_EQ(library.priced_flops, 1.3 * 2 * 1728 * 2 * 16);
  const Work own = work(op, "kernels.conv_few_inputs");
  EXPECT_EQ(own.flops, library.flops);
  EXPECT_EQ(own.priced_flops, 2.0 * 1728 * 2 * 16);
}

// A pass over a line of 4 inputs is 4 additions, one over 4 products, too; there are 3 x 16 and
// 16 + 8 + 4 of them.
TEST_F(WorkTest, Winograd2) {
  const double tile = 64.0 * 2 * 16 * 16 + 16.0 * 48 * 4 + 16.0 * 28 * 4;
  EXPECT_EQ(tile, 37632);
  EXPECT_EQ(work(plain_conv({16, 16, {4, 4, 4}, cube3}), "kernels.conv_winograd2").flops, 8 * tile);
  // Tiles over the border are whole; channels are those that exist.
  EXPECT_EQ(work(plain_conv({16, 16, {3, 3, 3}, cube3}), "kernels.conv_winograd2").flops, 8 * tile);
  EXPECT_EQ(work(plain_conv({3, 5, {2, 2, 2}, cube3}), "kernels.conv_winograd2").flops,
            64.0 * 2 * 3 * 5 + 3.0 * 48 * 4 + 5.0 * 28 * 4);
}

// A pass over 6 inputs is 12 multiply-adds. Over 6 products it is 4 additions for the pairs, then
// an addition of three (2), a multiplication and a multiply-add twice (3 each), and two
// multiply-adds (4). There are 3 x 36 and 36 + 24 + 16 of them.
constexpr double kInput4 = 108 * 24;
constexpr double kOutput4 = 76 * (4 + 2 + 3 + 3 + 4);

TEST_F(WorkTest, Winograd4) {
  const double tile = 216.0 * 2 * 16 * 16 + 16 * kInput4 + 16 * kOutput4;
  EXPECT_EQ(tile, 171520);
  const Work winograd = work(plain_conv({16, 16, {4, 4, 4}, cube3}), "kernels.conv_winograd4");
  EXPECT_EQ(winograd.flops, tile);
  EXPECT_GT(winograd.priced_flops, winograd.flops) << "transforms take longer than their count";
}

TEST_F(WorkTest, Winograd4WithWhatItFuses) {
  // Normalised on load, six operations a value; a tile of a row stages 6 x 6 x 4 of them. Behind
  // it 64 outputs of 16 channels get a time vector and a residual, and three operations of moments.
  const SingleOp normalised =
      fused_conv({16, 16, {4, 4, 4}, cube3}, {{16}, true, true, true, "silu"});
  EXPECT_EQ(work(normalised, "kernels.conv_winograd4").flops,
            171520 + 16.0 * 144 * 6 + 64.0 * 16 * (1 + 1 + 3));
  // From a source of 2^3, doubled by the transform itself: 4 coarse values become 6 by 4
  // multiplications and 3 additions each, along 16 + 24 + 36 lines.
  const SingleOp doubled =
      fused_conv({16, 16, {4, 4, 4}, cube3}, {.sources = {16}, .upsample = true});
  EXPECT_EQ(work(doubled, "kernels.conv_winograd4").flops,
            216.0 * 2 * 16 * 16 + 16.0 * 76 * 42 + 16 * kOutput4);
}

}  // namespace
}  // namespace mezzotint::testing
