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

TEST(ConvRegion, ResultsNobodyKnowsAreNoEpilogue) {
  EXPECT_FALSE(describe("  %z = add(%y, %r)\n  output %z\n  output %y\n", 2).has_value());
}

// A reorder ends the epilogue; the moments are those of what it stores.
TEST(ConvRegion, TheResultMayBeReordered) {
  const auto region = describe(R"(  %sum = add(%y, %r)
  %z = reorder(%sum) layout="channels_last"
  %m = channel_moments(%z)
  output %z
  output %m
)",
                               2);
  ASSERT_TRUE(region.has_value());
  EXPECT_EQ(region->residual, 1u);
  EXPECT_EQ(region->moments, 1u);
  EXPECT_FALSE(describe(R"(  %z = reorder(%y) layout="row_major"
  %sum = add(%z, %r)
  output %sum
)",
                        1)
                   .has_value());
}

// A convolution of %s, which `source` makes of %x and %k.
std::optional<ConvRegion> describe_source(const std::string& source, int channels = 2) {
  const std::string weight = "[2, " + std::to_string(channels) + ", 1, 1, 1]";
  const auto graph = graph_from_text(R"(input %x step float32[1, 2, 2, 2, 2]
input %k step float32[1, 2, 2]
parameter %w )" + weight + R"(
%region = region(%x, %k, %w) {
  input %x step float32[1, 2, 2, 2, 2]
  input %k step float32[1, 2, 2]
  input %w model float32)" + weight + "\n" +
                                     source + R"(
  %y = conv3d(%s, %w)
  output %y
}
output %region
)");
  EXPECT_TRUE(graph.ok()) << graph.error().message;
  return graph ? describe_conv({*graph, graph->op(0)}) : std::nullopt;
}

TEST(ConvRegion, ASourceMayBeInterpolated) {
  const auto region = describe_source(R"(  %in = reorder(%x) layout="channels_last"
  %s = upsample_trilinear(%in))");
  ASSERT_TRUE(region.has_value());
  ASSERT_EQ(region->sources.size(), 1u);
  EXPECT_TRUE(region->sources[0].upsample);
  EXPECT_EQ(region->sources[0].input, 0u);
  EXPECT_EQ(region->sources[0].channels, 2);
}

TEST(ConvRegion, EachSourceIsLoadedInAWayOfItsOwn) {
  const auto region = describe_source(R"(  %a = reorder(%x) layout="row_major"
  %b = affine(%x, %k) activation="silu"
  %s = concat(%x, %a, %b))",
                                      6);
  ASSERT_TRUE(region.has_value());
  ASSERT_EQ(region->sources.size(), 3u);
  EXPECT_FALSE(region->sources[1].coefficients || region->sources[1].upsample);
  EXPECT_EQ(region->sources[2].coefficients, 1u);
  EXPECT_TRUE(region->sources[2].silu);
}

TEST(ConvRegion, InterpolationAndAffineDoNotGoTogether) {
  EXPECT_FALSE(describe_source("  %u = upsample_trilinear(%x)\n  %s = affine(%u, %k)"));
  EXPECT_FALSE(describe_source("  %n = affine(%x, %k)\n  %s = upsample_trilinear(%n)"));
}

TEST(ConvRegion, NoConvolutionNoRegion) {
  const auto graph = graph_from_text("input %x step float32[1, 2]\n%y = silu(%x)\noutput %y\n");
  ASSERT_TRUE(graph.ok());
  EXPECT_FALSE(describe_conv({*graph, graph->op(0)}).has_value());
}

}  // namespace
}  // namespace mezzotint
