#include "graph/conv_region.h"

#include <gtest/gtest.h>

#include "graph/text.h"

namespace mezzotint {
namespace {

// A region whose body ends with `tail`, after a convolution %y of %x.
std::optional<ConvRegion> describe(const std::string& tail, int outputs) {
  std::string text = R"(input %x step float32[1, 2, 2, 2, 2]
input %r step float32[1, 2, 2, 2, 2]
parameter %w [2, 2, 1, 1, 1]
%region = region(%x, %r, %w) {
  input %x step float32[1, 2, 2, 2, 2]
  input %r step float32[1, 2, 2, 2, 2]
  input %w model float32[2, 2, 1, 1, 1]
  %y = conv3d(%x, %w)
)" + tail + "}\noutput %region\n";
  for (int k = 1; k < outputs; ++k) {
    text += "output %region:" + std::to_string(k) + "\n";
  }
  const auto graph = graph_from_text(text);
  EXPECT_TRUE(graph.ok()) << graph.error().message;
  return graph ? describe_conv({*graph, graph->op(0)}) : std::nullopt;
}

TEST(ConvRegion, MomentsAreThoseOfTheResult) {
  const auto region = describe(R"(  %z = add(%y, %r)
  %m = channel_moments(%z)
  output %z
  output %m
)",
                               2);
  ASSERT_TRUE(region.has_value());
  EXPECT_EQ(region->moments, 1u);
  EXPECT_EQ(region->residual, 1u);
}

// Moments of what the residual is added to are something else.
TEST(ConvRegion, MomentsOfAnIntermediateAreNoEpilogue) {
  EXPECT_FALSE(describe(R"(  %m = channel_moments(%y)
  %z = add(%y, %r)
  output %z
  output %m
)",
                        2)
                   .has_value());
}

TEST(ConvRegion, OtherOpsAreNoEpilogue) {
  EXPECT_FALSE(describe("  %z = silu(%y)\n  output %z\n", 1).has_value());
}

TEST(ConvRegion, NoConvolutionNoRegion) {
  const auto graph = graph_from_text("input %x step float32[1, 2]\n%y = silu(%x)\noutput %y\n");
  ASSERT_TRUE(graph.ok());
  EXPECT_FALSE(describe_conv({*graph, graph->op(0)}).has_value());
}

}  // namespace
}  // namespace mezzotint
