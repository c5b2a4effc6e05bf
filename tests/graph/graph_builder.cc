#include "graph/graph_builder.h"

#include <gtest/gtest.h>

namespace mezzotint {
namespace {

ValueId volume(GraphBuilder& b, std::string name, std::int64_t channels) {
  return b.input(std::move(name), {Shape{1, channels, 4, 4, 4}, DType::kF32, Layout::kRowMajor},
                 Rate::kStep);
}

TEST(GraphBuilder, BuildsEveryOp) {
  GraphBuilder b;
  const ValueId x = volume(b, "x", 32);
  const ValueId t = b.input("t", {Shape{1}, DType::kF32, Layout::kRowMajor}, Rate::kStep);
  const ValueId kernel = b.parameter("w", {96, 32, 1, 1, 1});
  const ValueId gain = b.parameter("gain", {32});
  const ValueId matrix = b.parameter("matrix", {32, 8});
  const ValueId embedding = b.timestep_embedding("embedding", t, 8, 1000);
  const ValueId step = b.input("step", {Shape{1}, DType::kI32, Layout::kRowMajor}, Rate::kStep);
  const ValueId table = b.silu("silu", b.linear("linear", embedding, matrix, gain));
  const ValueId time = b.select_rows("select_rows", table, step);
  ValueId h = b.add_channels("add_channels", x, time);
  const ValueId moments = b.channel_moments("moments", h);
  const ValueId coefficients =
      b.group_norm_coefficients("coefficients", moments, gain, gain, 32, 1e-5);
  h = b.affine("affine", h, coefficients);
  h = b.attention("attention", b.conv3d("qkv", h, kernel, std::nullopt, 1, 0), 1);
  h = b.add("add", h, x);
  h = b.upsample_trilinear("up", h);
  h = b.reorder("reorder", h, Layout::kChannelsLast);
  h = b.concat("concat", std::array{h, h});
  b.alias("eps", h);
  b.output(h);
  const ValueType type = b.type(h);
  const auto graph = b.finish();
  ASSERT_TRUE(graph.ok()) << graph.error().message;
  EXPECT_EQ(type, (ValueType{Shape{1, 64, 8, 8, 8}, DType::kF32, Layout::kChannelsLast}));
  EXPECT_EQ(graph->find_value("eps"), h);
  EXPECT_EQ(graph->ops().size(), std::size(kAllOpKinds) - 1);  // all but region
}

TEST(GraphBuilder, ReachesFurtherResultsOfARegion) {
  GraphBuilder inner;
  const ValueId source = volume(inner, "source", 2);
  inner.output(inner.silu("y", source));
  inner.output(inner.channel_moments("m", source));
  auto body = inner.finish();
  ASSERT_TRUE(body.ok()) << body.error().message;

  GraphBuilder b;
  const ValueId x = volume(b, "x", 2);
  const ValueId y = b.region("r", std::array{x}, std::make_shared<const Graph>(std::move(*body)));
  const ValueId moments = b.result(y, 1);
  EXPECT_EQ(b.type(moments).shape, (Shape{1, 2, 2}));
  b.output(moments);
  const auto graph = b.finish();
  ASSERT_TRUE(graph.ok()) << graph.error().message;
  EXPECT_EQ(graph->value(moments).name, "r:1");
}

TEST(GraphBuilder, ReportsTheFirstErrorOnly) {
  GraphBuilder b;
  const ValueId x = volume(b, "x", 3);
  const ValueId w = b.parameter("w", {8, 4, 3, 3, 3});
  const ValueId y = b.conv3d("conv", x, w, std::nullopt, 1, 1);
  const ValueId z = b.silu("conv", b.add("sum", y, x));
  b.alias("x", z);
  b.output(z);
  EXPECT_FALSE(b.ok());
  const auto graph = b.finish();
  ASSERT_FALSE(graph.ok());
  EXPECT_EQ(graph.error().message,
            "op `conv` (conv3d): weight [8, 4, 3, 3, 3] is for 4 input channels, x [1, 3, 4, 4, 4]"
            " has 3");
}

TEST(GraphBuilder, RefusesNamesInUse) {
  GraphBuilder b;
  const ValueId x = volume(b, "x", 3);
  b.alias("last", x);
  b.output(b.silu("last", x));
  const auto graph = b.finish();
  ASSERT_FALSE(graph.ok());
  EXPECT_EQ(graph.error().message, "the name `last` is already in use");
}

TEST(GraphBuilder, RefusesNamesThatFurtherResultsWouldTake) {
  GraphBuilder inner;
  const ValueId source = volume(inner, "source", 2);
  inner.output(source);
  inner.output(source);
  auto body = inner.finish();
  ASSERT_TRUE(body.ok()) << body.error().message;

  GraphBuilder b;
  const ValueId x = volume(b, "r:1", 2);
  b.output(b.region("r", std::array{x}, std::make_shared<const Graph>(std::move(*body))));
  const auto graph = b.finish();
  ASSERT_FALSE(graph.ok());
  EXPECT_EQ(graph.error().message, "the name `r:1` is already in use");
}

TEST(GraphBuilder, VerifiesAtTheEnd) {
  GraphBuilder b;
  volume(b, "x", 3);
  const auto graph = b.finish();
  ASSERT_FALSE(graph.ok());
  EXPECT_EQ(graph.error().message, "the graph has no output");
}

}  // namespace
}  // namespace mezzotint
