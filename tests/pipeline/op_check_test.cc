// The bound that a checked op is held to: what it must accept, and what it must refuse.
#include "pipeline/op_check.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <memory>
#include <vector>

#include "graph/graph_builder.h"
#include "support/random_fill.h"

namespace mezzotint::testing {
namespace {

constexpr std::int64_t kChannels = 3;
constexpr std::int64_t kSide = 32;
constexpr std::int64_t kPositions = kSide * kSide * kSide;

Graph moments_graph() {
  GraphBuilder b;
  const ValueId x = b.input(
      "x", {Shape{1, kChannels, kSide, kSide, kSide}, DType::kF32, Layout::kRowMajor}, Rate::kStep);
  b.output(b.channel_moments("m", x));
  return *b.finish();
}

// Mean and variance from sums of x and x^2: of blocks in `Block`, of blocks' sums in double.
template <typename Block>
std::vector<double> moments_of(const std::vector<float>& x, std::int64_t block) {
  std::vector<double> moments;
  for (std::int64_t c = 0; c < kChannels; ++c) {
    double sum = 0;
    double squares = 0;
    for (std::int64_t first = 0; first < kPositions; first += block) {
      Block block_sum = 0;
      Block block_squares = 0;
      for (std::int64_t i = first; i < first + block; ++i) {
        const Block value = x[static_cast<std::size_t>(c * kPositions + i)];
        block_sum += value;
        block_squares += value * value;
      }
      sum += block_sum;
      squares += block_squares;
    }
    const double mean = sum / kPositions;
    moments.push_back(mean);
    moments.push_back(squares / kPositions - mean * mean);
  }
  return moments;
}

struct Range {
  float low;
  float high;
};

class MomentsBound : public ::testing::TestWithParam<Range> {};

// Error of the moments in units of their bound.
double severity_of(std::vector<float> x, std::vector<double> moments) {
  const Graph graph = moments_graph();
  const OpView view{graph, graph.op(0)};
  const Buffer input{reinterpret_cast<std::byte*>(x.data())};
  const Buffer output{reinterpret_cast<std::byte*>(moments.data())};
  const SampleReport report = sample_check(view, 0, {&input, 1}, {&output, 1}, ThreadTeam(1));
  return report.max_abs_error / error_bound(view, 0, report);
}

TEST_P(MomentsBound, AcceptsSumsInDoubleAndRefusesSumsInFloat) {
  const std::vector<float> x =
      random_floats(kChannels * kPositions, 1, GetParam().low, GetParam().high);
  EXPECT_LE(severity_of(x, moments_of<double>(x, 512)), 1);
  EXPECT_LE(severity_of(x, moments_of<double>(x, 64)), 1);
  EXPECT_GT(severity_of(x, moments_of<float>(x, 64)), 1);
  EXPECT_GT(severity_of(x, moments_of<float>(x, kPositions)), 1);
}

INSTANTIATE_TEST_SUITE_P(Ranges, MomentsBound,
                         ::testing::Values(Range{-1, 1}, Range{0, 1}, Range{-1e-4F, 1e-4F},
                                           Range{9.9F, 10.1F}, Range{-300, 100}));

// A region's moments are those that the op of its body would give.
TEST(OpCheckBound, OfARegionsMoments) {
  const Graph graph = moments_graph();
  const ValueType type = graph.value(graph.inputs()[0]).type;
  GraphBuilder b;
  const ValueId x = b.input("x", type, Rate::kStep);
  b.output(b.region("r", std::vector{x}, std::make_shared<const Graph>(graph)));
  const auto outer = b.finish();
  ASSERT_TRUE(outer.ok()) << outer.error().message;
  SampleReport report;
  report.max_abs_truth = 2;
  const double expected = 2 * 0x1p-53 * std::sqrt(static_cast<double>(kPositions)) * 6;
  EXPECT_DOUBLE_EQ(error_bound({graph, graph.op(0)}, 0, report), expected);
  EXPECT_DOUBLE_EQ(error_bound({*outer, outer->op(0)}, 0, report), expected);
}

}  // namespace
}  // namespace mezzotint::testing
