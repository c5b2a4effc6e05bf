// Every op of the reference against numbers worked out by hand.
#include <gtest/gtest.h>

#include <cmath>
#include <memory>

#include "backend/ref/evaluate.h"
#include "graph/graph_builder.h"

namespace mezzotint {
namespace {

using ref::RefTensor;

const ThreadTeam& team() {
  static const ThreadTeam instance(2);
  return instance;
}

// A graph under construction together with the data of its inputs.
class Case {
 public:
  ValueId input(const std::string& name, Shape shape, std::vector<double> data,
                DType dtype = DType::kF32) {
    bindings_[name] = {shape, std::move(data)};
    return builder.input(name, {std::move(shape), dtype, Layout::kRowMajor}, Rate::kStep);
  }
  ValueId parameter(const std::string& name, const Shape& shape, std::vector<double> data) {
    bindings_[name] = {shape, std::move(data)};
    return builder.parameter(name, shape);
  }

  RefTensor evaluate(ValueId value) {
    builder.output(value);
    const Result<Graph> graph = builder.finish();
    EXPECT_TRUE(graph.ok()) << graph.error().message;
    const auto values = ref::evaluate(*graph, bindings_, team());
    EXPECT_TRUE(values.ok()) << values.error().message;
    return values->at(value);
  }

  GraphBuilder builder;

 private:
  ref::Bindings bindings_;
};

void expect_tensor(const RefTensor& tensor, const Shape& shape,
                   const std::vector<double>& expected) {
  EXPECT_EQ(tensor.shape, shape);
  ASSERT_EQ(tensor.data.size(), expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    EXPECT_NEAR(tensor.data[i], expected[i], 1e-14 * std::max(1.0, std::abs(expected[i])))
        << "element " << i;
  }
}

TEST(RefOps, add) {
  Case c;
  const ValueId a = c.input("a", {2}, {1, 2});
  const ValueId b = c.input("b", {2}, {10, 20});
  expect_tensor(c.evaluate(c.builder.add("y", a, b)), {2}, {11, 22});
}

TEST(RefOps, add_channels) {
  Case c;
  const ValueId x = c.input("x", {1, 2, 1, 1, 2}, {1, 2, 3, 4});
  const ValueId v = c.input("v", {1, 2}, {10, 100});
  expect_tensor(c.evaluate(c.builder.add_channels("y", x, v)), {1, 2, 1, 1, 2}, {11, 12, 103, 104});
}

TEST(RefOps, affine_reads_its_coefficients_from_the_channel_offset) {
  Case c;
  const ValueId x = c.input("x", {1, 2, 1, 1, 1}, {2, 3});
  const ValueId k = c.input("k", {1, 3, 2}, {1000, 1000, 5, -1, 7, 1});
  expect_tensor(c.evaluate(c.builder.affine("y", x, k, "none", 1)), {1, 2, 1, 1, 1}, {9, 22});
}

TEST(RefOps, affine_applies_silu_last) {
  Case c;
  const ValueId x = c.input("x", {1, 1, 1, 1, 3}, {0, 1, 2});
  const ValueId k = c.input("k", {1, 1, 2}, {1, -1});
  expect_tensor(c.evaluate(c.builder.affine("y", x, k, "silu")), {1, 1, 1, 1, 3},
                {-0.26894142136999512, 0, 0.73105857863000488});
}

TEST(RefOps, silu_has_no_overflow) {
  Case c;
  const ValueId x = c.input("x", {4}, {-1e4, -1, 1, 1e4});
  expect_tensor(c.evaluate(c.builder.silu("y", x)), {4},
                {0, -0.26894142136999512, 0.73105857863000488, 1e4});
}

TEST(RefOps, attention_splits_heads_before_q_k_v) {
  const double ln3 = std::log(3.0);
  Case c;
  // Two heads of one channel at two positions; rows are q, k, v of head 0, then of head 1.
  const ValueId qkv = c.input("qkv", {1, 6, 2},
                              {0, 1, ln3, 0, 4, 8,  //
                               2, 0, 0, ln3, 10, 20});
  // Head 0: equal weights, then 3 : 1. Head 1: 1 : 9, then equal.
  expect_tensor(c.evaluate(c.builder.attention("y", qkv, 2)), {1, 2, 2}, {6, 5, 19, 15});
}

TEST(RefOps, attention_scales_by_the_root_of_the_head_width) {
  const double ln3 = std::log(3.0);
  Case c;
  std::vector<double> data(12 * 2, 0.0);
  data[0] = data[1] = 2;  // channel 0 of q at both positions
  data[8] = ln3;          // channel 0 of k at position 0
  data[16] = 4;           // channel 0 of v
  data[17] = 8;
  const ValueId qkv = c.input("qkv", {1, 12, 2}, data);
  expect_tensor(c.evaluate(c.builder.attention("y", qkv, 1)), {1, 4, 2}, {5, 5, 0, 0, 0, 0, 0, 0});
}

TEST(RefOps, attention_survives_huge_logits) {
  Case c;
  const ValueId qkv = c.input("qkv", {1, 3, 2}, {1e3, 1e3, 1e3, -1e3, 4, 8});
  expect_tensor(c.evaluate(c.builder.attention("y", qkv, 1)), {1, 1, 2}, {4, 4});
}

TEST(RefOps, channel_moments_are_mean_and_population_variance) {
  Case c;
  const ValueId x = c.input("x", {1, 2, 1, 2, 2}, {1, 2, 3, 4, 1e9 + 1, 1e9 - 1, 1e9 + 1, 1e9 - 1});
  expect_tensor(c.evaluate(c.builder.channel_moments("y", x)), {1, 2, 2}, {2.5, 1.25, 1e9, 1});
}

TEST(RefOps, concat_keeps_the_order) {
  Case c;
  const ValueId a = c.input("a", {2, 1, 2}, {1, 2, 3, 4});
  const ValueId b = c.input("b", {2, 2, 2}, {10, 20, 30, 40, 50, 60, 70, 80});
  const ValueId parts[] = {a, b};
  expect_tensor(c.evaluate(c.builder.concat("y", parts)), {2, 3, 2},
                {1, 2, 10, 20, 30, 40, 3, 4, 50, 60, 70, 80});
}

// A 3x3x3 kernel that is `taps` along one axis and zero beside it.
std::vector<double> line_kernel(std::size_t axis, const std::vector<double>& taps) {
  std::vector<double> kernel(27, 0.0);
  const std::size_t steps[] = {9, 3, 1};
  for (std::size_t i = 0; i < 3; ++i) {
    kernel[13 + i * steps[axis] - steps[axis]] = taps[i];
  }
  return kernel;
}

TEST(RefOps, conv3d_correlates_along_each_axis_with_zero_padding) {
  for (std::size_t axis = 0; axis < 3; ++axis) {
    SCOPED_TRACE(axis);
    Case c;
    const Shape shape = Shape{1, 1, 1, 1, 1}.with(2 + axis, 3);
    const ValueId x = c.input("x", shape, {1, 2, 3});
    const ValueId w = c.parameter("w", {1, 1, 3, 3, 3}, line_kernel(axis, {1, 10, 100}));
    expect_tensor(c.evaluate(c.builder.conv3d("y", x, w, std::nullopt, 1, 1)), shape,
                  {210, 321, 32});
  }
}

TEST(RefOps, conv3d_with_stride_two_keeps_even_positions) {
  Case c;
  const ValueId x = c.input("x", {1, 1, 1, 1, 4}, {1, 2, 3, 4});
  const ValueId w = c.parameter("w", {1, 1, 3, 3, 3}, line_kernel(2, {1, 10, 100}));
  const ValueId b = c.parameter("b", {1}, {0.5});
  expect_tensor(c.evaluate(c.builder.conv3d("y", x, w, b, 2, 1)), {1, 1, 1, 1, 2}, {210.5, 432.5});
}

TEST(RefOps, conv3d_sums_input_channels_per_output_channel) {
  Case c;
  const ValueId x = c.input("x", {1, 2, 1, 1, 2}, {1, 2, 3, 4});
  const ValueId w = c.parameter("w", {3, 2, 1, 1, 1}, {1, 0, 0, 1, 10, 100});
  const ValueId b = c.parameter("b", {3}, {0, 0, -1});
  expect_tensor(c.evaluate(c.builder.conv3d("y", x, w, b, 1, 0)), {1, 3, 1, 1, 2},
                {1, 2, 3, 4, 309, 419});
}

TEST(RefOps, group_norm_coefficients_merge_the_moments_of_a_group) {
  Case c;
  // Group 0: means 1 and 3, variances 3 and 1: mean 2, variance 2 + 1. Group 1: mean 0, variance 0.
  const ValueId moments = c.input("m", {1, 4, 2}, {1, 3, 3, 1, 0, 0, 0, 0}, DType::kF64);
  const ValueId weight = c.parameter("w", {4}, {2, 4, 1, 1});
  const ValueId bias = c.parameter("b", {4}, {5, 6, 7, 8});
  expect_tensor(
      c.evaluate(c.builder.group_norm_coefficients("y", moments, weight, bias, 2, /*eps=*/1.0)),
      {1, 4, 2}, {1, 3, 2, 2, 1, 7, 1, 8});
}

TEST(RefOps, linear_multiplies_by_the_transposed_weight) {
  Case c;
  const ValueId x = c.input("x", {2, 2}, {1, 2, 3, 4});
  const ValueId w = c.parameter("w", {3, 2}, {1, 0, 0, 1, 10, 100});
  const ValueId b = c.parameter("b", {3}, {0, 0, 0.5});
  expect_tensor(c.evaluate(c.builder.linear("y", x, w, b)), {2, 3}, {1, 2, 210.5, 3, 4, 430.5});
}

TEST(RefOps, reorder_keeps_logical_values) {
  Case c;
  const ValueId x = c.input("x", {1, 2, 1, 1, 2}, {1, 2, 3, 4});
  expect_tensor(c.evaluate(c.builder.reorder("y", x, Layout::kChannelsLast)), {1, 2, 1, 1, 2},
                {1, 2, 3, 4});
}

TEST(RefOps, select_rows_takes_them_in_the_order_of_the_index) {
  Case c;
  const ValueId table = c.input("table", {3, 2}, {1, 2, 3, 4, 5, 6});
  const ValueId index = c.input("index", {4}, {2, 0, 2, 1}, DType::kI32);
  expect_tensor(c.evaluate(c.builder.select_rows("y", table, index)), {4, 2},
                {5, 6, 1, 2, 5, 6, 3, 4});
}

TEST(RefOps, timestep_embedding_is_cosines_then_sines_then_zero) {
  Case c;
  const ValueId t = c.input("t", {2}, {0, 1});
  expect_tensor(
      c.evaluate(c.builder.timestep_embedding("y", t, 5, 100.0)), {2, 5},
      {1, 1, 0, 0, 0,  //
       0.54030230586813977, 0.99500416527802577, 0.84147098480789651, 0.099833416646828155, 0});
}

TEST(RefOps, timestep_embedding_of_dimension_one_is_zero) {
  Case c;
  const ValueId t = c.input("t", {1}, {7});
  expect_tensor(c.evaluate(c.builder.timestep_embedding("y", t, 1, 100.0)), {1, 1}, {0});
}

TEST(RefOps, upsample_trilinear_clamps_at_the_edges) {
  for (std::size_t axis = 0; axis < 3; ++axis) {
    SCOPED_TRACE(axis);
    Case c;
    const ValueId x = c.input("x", Shape{1, 1, 1, 1, 1}.with(2 + axis, 2), {0, 4});
    const RefTensor y = c.evaluate(c.builder.upsample_trilinear("y", x));
    const Shape shape = Shape{1, 1, 2, 2, 2}.with(2 + axis, 4);
    ASSERT_EQ(y.shape, shape);
    const double line[] = {0, 1, 3, 4};
    for (std::int64_t i = 0; i < 4; ++i) {
      std::vector<std::int64_t> index{0, 0, 1, 0, 1};
      index[2 + axis] = i;
      EXPECT_EQ(
          y.data[static_cast<std::size_t>(element_offset(shape, Layout::kRowMajor, index.data()))],
          line[i]);
    }
  }
}

TEST(RefOps, region_computes_its_body) {
  GraphBuilder inner;
  const ValueType type{{1, 1, 1, 1, 3}, DType::kF32, Layout::kRowMajor};
  const ValueId x = inner.input("x", type, Rate::kStep);
  const ValueId k = inner.input("k", {{1, 1, 2}, DType::kF32, Layout::kRowMajor}, Rate::kStep);
  const ValueId w =
      inner.input("w", {{1, 1, 3, 3, 3}, DType::kF32, Layout::kRowMajor}, Rate::kModel);
  const ValueId conv = inner.conv3d("conv", inner.affine("affine", x, k), w, std::nullopt, 1, 1);
  inner.output(conv);
  inner.output(inner.channel_moments("moments", conv));
  Result<Graph> body = inner.finish();
  ASSERT_TRUE(body.ok()) << body.error().message;

  for (const std::size_t output : {0u, 1u}) {
    Case c;
    const ValueId inputs[] = {
        c.input("x", type.shape, {0, 1, 2}),
        c.input("k", {1, 1, 2}, {1, 1}),
        c.parameter("w", {1, 1, 3, 3, 3}, line_kernel(2, {1, 10, 100})),
    };
    const ValueId y = c.builder.region("y", inputs, std::make_shared<const Graph>(*body));
    // affine: 1 2 3, padded with zeros after the shift, not with ones.
    const RefTensor result = c.evaluate(c.builder.result(y, output));
    if (output == 0) {
      expect_tensor(result, type.shape, {210, 321, 32});
    } else {
      const double mean = 563.0 / 3.0;
      expect_tensor(result, {1, 1, 2},
                    {mean, (210.0 * 210 + 321.0 * 321 + 32.0 * 32) / 3.0 - mean * mean});
    }
  }
}

TEST(RefEvaluate, names_what_is_not_bound) {
  GraphBuilder builder;
  const ValueId x = builder.input("noise", {{2}, DType::kF32, Layout::kRowMajor}, Rate::kStep);
  builder.output(builder.silu("y", x));
  const Result<Graph> graph = builder.finish();
  ASSERT_TRUE(graph.ok());
  const auto unbound = ref::evaluate(*graph, {}, team());
  ASSERT_FALSE(unbound.ok());
  EXPECT_EQ(unbound.error().message, "input noise is not bound");
  const auto wrong = ref::evaluate(*graph, {{"noise", {{3}, {1, 2, 3}}}}, team());
  ASSERT_FALSE(wrong.ok());
  EXPECT_EQ(wrong.error().message, "noise is bound to 3 elements of shape [3], expected [2]");
}

}  // namespace
}  // namespace mezzotint
