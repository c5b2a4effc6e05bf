// The sample check finds what is wrong, where it is wrong.
#include "backend/ref/sample_check.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <memory>

#include "backend/ref/ref_backend.h"
#include "graph/graph_builder.h"
#include "support/random_fill.h"
#include "support/tolerance.h"

namespace mezzotint {
namespace {

using testing::random_floats;

// A convolution region with its moments, computed by the reference into memory.
class SampleCheck : public ::testing::Test {
 protected:
  SampleCheck() {
    GraphBuilder inner;
    const ValueId inner_x = inner.input("x", x_type_, Rate::kStep);
    const ValueId inner_w = inner.input("w", w_type_, Rate::kModel);
    const ValueId conv = inner.conv3d("conv", inner_x, inner_w, std::nullopt, 1, 1);
    inner.output(conv);
    inner.output(inner.channel_moments("moments", conv));
    GraphBuilder outer;
    const ValueId inputs[] = {outer.input("x", x_type_, Rate::kStep),
                              outer.input("w", w_type_, Rate::kModel)};
    outer.output(outer.region("y", inputs, std::make_shared<const Graph>(*inner.finish())));
    graph_ = *outer.finish();

    const auto backend = make_ref_backend();
    const auto kernel = *backend->implementations(OpKind::region)[0]->prepare(view(), Target{});
    kernel->launch({inputs_, outputs_, nullptr, team_});
  }

  [[nodiscard]] OpView view() const { return {graph_, graph_.op(0)}; }
  [[nodiscard]] SampleReport check(std::size_t output) const {
    return sample_check(view(), output, inputs_, outputs_, team_);
  }

  const ValueType x_type_{{1, 3, 9, 17, 12}, DType::kF32, Layout::kChannelsLast};
  const ValueType w_type_{{8, 3, 3, 3, 3}, DType::kF32, Layout::kRowMajor};
  const ThreadTeam team_{2};
  Graph graph_;
  std::vector<float> x_ = random_floats(x_type_.shape.elements(), 1);
  std::vector<float> w_ = random_floats(w_type_.shape.elements(), 2);
  std::vector<float> y_ = std::vector<float>(8 * 9 * 17 * 12);
  std::vector<double> moments_ = std::vector<double>(16);
  const Buffer inputs_[2] = {{reinterpret_cast<std::byte*>(x_.data())},
                             {reinterpret_cast<std::byte*>(w_.data())}};
  const Buffer outputs_[2] = {{reinterpret_cast<std::byte*>(y_.data())},
                              {reinterpret_cast<std::byte*>(moments_.data())}};
};

TEST_F(SampleCheck, accepts_what_is_right) {
  const SampleReport report = check(0);
  EXPECT_GT(report.samples, 3000);  // 4096 random positions of 14688, less repetitions
  // Only the rounding when stored: half an ulp.
  EXPECT_LE(report.max_abs_error, 0.5 * testing::ulp_of(report.max_abs_truth));
  EXPECT_GT(report.max_abs_truth, report.rms_truth);
  EXPECT_GT(report.rms_truth, 1.0);  // 81 products of variance 1/9
  EXPECT_LT(report.relative_l2, 1e-7);
}

TEST_F(SampleCheck, finds_a_wrong_corner) {
  y_.back() += 0.5F;  // channels last: the last element is the last corner
  const SampleReport report = check(0);
  EXPECT_NEAR(report.max_abs_error, 0.5, 1e-6);
  EXPECT_EQ(report.worst, (std::vector<std::int64_t>{0, 7, 8, 16, 11}));
  EXPECT_NEAR(report.worst_value - report.worst_truth, 0.5, 1e-6);
}

TEST_F(SampleCheck, counts_non_finite_values_as_infinitely_wrong) {
  y_.front() = std::numeric_limits<float>::quiet_NaN();
  const SampleReport report = check(0);
  EXPECT_TRUE(std::isinf(report.max_abs_error));
  EXPECT_EQ(report.worst, (std::vector<std::int64_t>{0, 0, 0, 0, 0}));
}

TEST_F(SampleCheck, judges_moments_by_the_stored_result) {
  EXPECT_LT(check(1).max_abs_error, 1e-12);
  EXPECT_EQ(check(1).samples, 16);  // every mean and variance, once
  for (float& value : y_) {
    value += 1.0F;
  }
  // The means are now off by one; the variances are not.
  const SampleReport report = check(1);
  EXPECT_NEAR(report.max_abs_error, 1.0, 1e-6);
  EXPECT_EQ(report.worst[2], 0);
}

TEST_F(SampleCheck, stays_within_its_budget_of_reads) {
  SampleOptions options;
  options.read_budget = 1;
  const SampleReport report = sample_check(view(), 0, inputs_, outputs_, team_, options);
  EXPECT_LT(report.samples, 400);
  EXPECT_GE(report.samples, 64 + 16);  // random positions and the corners of [1, 8, 9, 17, 12]
}

// Too long an axis for random positions to find one wrong element.
TEST(SampleCheckSeams, finds_one_wrong_element_on_either_side_of_a_seam) {
  constexpr std::int64_t kExtent = 1'000'003;
  GraphBuilder builder;
  builder.output(builder.silu(
      "y", builder.input("x", {{kExtent}, DType::kF32, Layout::kRowMajor}, Rate::kStep)));
  const Graph graph = *builder.finish();
  std::vector<float> x(kExtent, 0.0F);
  std::vector<float> y(kExtent, 0.0F);
  const Buffer inputs[] = {{reinterpret_cast<std::byte*>(x.data())}};
  const Buffer outputs[] = {{reinterpret_cast<std::byte*>(y.data())}};
  const std::int64_t last_seam = (kExtent - 1) / 64 * 64;
  for (const std::int64_t wrong : {std::int64_t{63}, std::int64_t{64}, last_seam - 1, last_seam}) {
    y[static_cast<std::size_t>(wrong)] = 1.0F;
    const SampleReport report =
        sample_check({graph, graph.op(0)}, 0, inputs, outputs, ThreadTeam(1));
    EXPECT_EQ(report.max_abs_error, 1.0);
    EXPECT_EQ(report.worst, std::vector<std::int64_t>{wrong});
    y[static_cast<std::size_t>(wrong)] = 0.0F;
  }
}

}  // namespace
}  // namespace mezzotint
