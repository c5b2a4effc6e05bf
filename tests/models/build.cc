#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "graph/op_definition.h"
#include "graph/text.h"
#include "graph/verifier.h"
#include "models/config.h"
#include "models/med_ddpm.h"

namespace mezzotint {
namespace {

Graph build(const MedDdpmConfig& config, std::array<std::int64_t, 3> size) {
  auto graph = build_med_ddpm(config, 1, size);
  EXPECT_TRUE(graph.ok()) << (graph.ok() ? "" : graph.error().message);
  return graph.ok() ? std::move(*graph) : Graph();
}

double parameters_in_millions(const Graph& graph) {
  std::int64_t total = 0;
  for (const ValueId id : graph.parameters()) {
    total += graph.value(id).type.shape.elements();
  }
  return static_cast<double>(total) / 1e6;
}

double teraflops(const Graph& graph, const std::set<OpKind>& kinds) {
  double total = 0;
  for (const Op& op : graph.ops()) {
    if (kinds.contains(op.kind)) {
      total += flops_of({graph, op});
    }
  }
  return total / 1e12;
}

// The published figures count convolutions, matrix products and attention, nothing elementwise.
TEST(MedDdpmBuild, WholeHeadHasThePublishedSize) {
  const Graph graph = build(whole_head_config(), {128, 128, 128});
  EXPECT_NEAR(parameters_in_millions(graph), 40.226, 0.0005);
  EXPECT_NEAR(teraflops(graph, {OpKind::conv3d, OpKind::attention, OpKind::linear}), 5.537, 0.0005);
  EXPECT_NEAR(teraflops(graph, {OpKind::conv3d}), 5.498, 0.0005);
}

TEST(MedDdpmBuild, BratsHasThePublishedSize) {
  const Graph graph = build(brats_config(), {144, 192, 192});
  EXPECT_NEAR(parameters_in_millions(graph), 57.563, 0.0005);
  EXPECT_NEAR(teraflops(graph, {OpKind::conv3d, OpKind::attention, OpKind::linear}), 21.258,
              0.0005);
}

// The 3D convolutions' outputs; the reference's attention projects with 1D ones.
TEST(MedDdpmBuild, WholeHeadHasThePublishedActivations) {
  const Graph graph = build(whole_head_config(), {128, 128, 128});
  double elements = 0;
  for (const Op& op : graph.ops()) {
    if (op.kind == OpKind::conv3d && !op.name.ends_with(".qkv") &&
        !op.name.ends_with(".proj_out")) {
      elements += static_cast<double>(graph.value(op.outputs[0]).type.shape.elements());
    }
  }
  EXPECT_NEAR(elements / 1e9, 1.585, 0.0005);
}

TEST(MedDdpmBuild, DeclaresInputsAndOutput) {
  const auto graph = build_med_ddpm(brats_config(32), 2, {16, 32, 48});
  ASSERT_TRUE(graph.ok()) << graph.error().message;
  ASSERT_EQ(graph->inputs().size(), 3u);
  const auto expect = [&](std::size_t i, std::string_view name, const Shape& shape, Rate rate) {
    const Value& value = graph->value(graph->inputs()[i]);
    EXPECT_EQ(value.name, name);
    EXPECT_EQ(value.type, (ValueType{shape, DType::kF32, Layout::kRowMajor}));
    EXPECT_EQ(value.rate, rate);
  };
  expect(0, "x", {2, 4, 16, 32, 48}, Rate::kStep);
  expect(1, "condition", {2, 4, 16, 32, 48}, Rate::kVolume);
  expect(2, "t", {2}, Rate::kStep);
  ASSERT_EQ(graph->outputs().size(), 1u);
  EXPECT_EQ(graph->find_value("eps"), graph->outputs()[0]);
  EXPECT_EQ(graph->find_value("out.2"), graph->outputs()[0]);
  EXPECT_EQ(graph->value(graph->outputs()[0]).type.shape, (Shape{2, 4, 16, 32, 48}));
}

TEST(MedDdpmBuild, NamesEveryModuleOfTheReference) {
  const Graph graph = build(whole_head_config(32), {16, 16, 16});
  for (const std::string_view name : {"time_embed",
                                      "time_embed.0",
                                      "input_blocks.0",
                                      "input_blocks.0.0",
                                      "input_blocks.1",
                                      "input_blocks.1.0",
                                      "input_blocks.2.0",
                                      "input_blocks.2.0.op",
                                      "input_blocks.7.0",
                                      "input_blocks.7.1",
                                      "input_blocks.7",
                                      "input_blocks.9",
                                      "middle_block",
                                      "middle_block.0",
                                      "middle_block.1",
                                      "middle_block.2",
                                      "output_blocks.0",
                                      "output_blocks.0.0",
                                      "output_blocks.1.1",
                                      "output_blocks.2.1",
                                      "output_blocks.3.1",
                                      "output_blocks.3.2",
                                      "output_blocks.3.2.conv",
                                      "output_blocks.9",
                                      "out.1",
                                      "out"}) {
    EXPECT_TRUE(graph.find_value(name)) << name;
  }
  EXPECT_EQ(graph.find_value("input_blocks.7"), graph.find_value("input_blocks.7.1"));
  EXPECT_EQ(graph.find_value("middle_block"), graph.find_value("middle_block.2"));
  EXPECT_FALSE(graph.find_value("input_blocks.10"));
  EXPECT_FALSE(graph.find_value("output_blocks.10"));
}

// After a block's skip convolution only the norm's affine reads the block's input, so that it can
// work in place.
TEST(MedDdpmBuild, SkipConvolutionRunsBeforeTheNorm) {
  const Graph graph = build(whole_head_config(32), {16, 16, 16});
  std::size_t blocks = 0;
  for (const Op& op : graph.ops()) {
    if (!op.name.ends_with(".skip_connection")) {
      continue;
    }
    ++blocks;
    OpKind last_reader = op.kind;
    for (const Op& reader : graph.ops()) {
      if (std::find(reader.inputs.begin(), reader.inputs.end(), op.inputs[0]) !=
          reader.inputs.end()) {
        // A level's last tensor is also kept for the decoder.
        last_reader = reader.kind == OpKind::concat ? last_reader : reader.kind;
      }
    }
    EXPECT_EQ(last_reader, OpKind::affine) << op.name;
  }
  EXPECT_EQ(blocks, 13u);
}

TEST(MedDdpmBuild, OneLevelAndOddChannelCountsWork) {
  MedDdpmConfig config = whole_head_config(32);
  config.recipe = RecipeKind::kGeneric;
  config.channel_multiplier = {3};
  config.attention_levels = {0};
  config.condition_channels = 5;
  config.in_channels = 6;
  const Graph graph = build(config, {1, 3, 5});
  EXPECT_EQ(graph.value(graph.outputs()[0]).type.shape, (Shape{1, 1, 1, 3, 5}));
}

TEST(MedDdpmBuild, TextRoundTrips) {
  const Graph graph = build(whole_head_config(32), {16, 16, 32});
  const std::string text = to_text(graph);
  const auto again = graph_from_text(text);
  ASSERT_TRUE(again.ok()) << again.error().message;
  EXPECT_EQ(to_text(*again), text);
}

std::string refusal(const MedDdpmConfig& config, std::array<std::int64_t, 3> size,
                    std::int64_t batch = 1) {
  const auto graph = build_med_ddpm(config, batch, size);
  return graph.ok() ? "built" : graph.error().message;
}

TEST(MedDdpmBuild, RefusesSizesWithTheNearestValidOnes) {
  EXPECT_EQ(refusal(whole_head_config(), {128, 100, 96}),
            "grid 128 x 100 x 96 (D x H x W): each side must be a multiple of 16; use"
            " 128 x 96 x 96 or 128 x 112 x 96");
  EXPECT_EQ(refusal(whole_head_config(), {7, 16, 16}),
            "grid 7 x 16 x 16 (D x H x W): each side must be a multiple of 16; use 16 x 16 x 16");
  EXPECT_EQ(refusal(whole_head_config(), {0, 16, 16}),
            "grid 0 x 16 x 16 (D x H x W): each side must be from 1 to 65536");
  EXPECT_EQ(refusal(whole_head_config(), {16, 16, std::int64_t{1} << 60}),
            "grid 16 x 16 x 1152921504606846976 (D x H x W): each side must be from 1 to 65536");
}

TEST(MedDdpmBuild, RefusesSizesBeyond64Bits) {
  EXPECT_EQ(refusal(whole_head_config(), {65536, 65536, 65536}, std::int64_t{1} << 40),
            "`x` has shape [1099511627776, 1, 65536, 65536, 65536]; each dimension must be at least"
            " 1 and the size fit into 64 bits");
  EXPECT_EQ(refusal(whole_head_config(), {16, 16, 16}, 0),
            "`x` has shape [0, 1, 16, 16, 16]; each dimension must be at least 1 and the size fit"
            " into 64 bits");
}

TEST(MedDdpmBuild, RefusesConfigurationsThatCannotExist) {
  const auto with = [](auto change) {
    MedDdpmConfig config = whole_head_config();
    change(config);
    return refusal(config, {128, 128, 128});
  };
  EXPECT_EQ(with([](auto& c) { c.base_channels = 48; }),
            "48 base channels; GroupNorm needs a multiple of 32");
  EXPECT_EQ(with([](auto& c) { c.attention_levels = {5}; }),
            "attention at level 5 of a network with levels 0 to 4");
  EXPECT_EQ(with([](auto& c) { c.in_channels = 4; }),
            "4 input channels must be 1 image and 2 condition channels, and 1 output channels as"
            " many as image channels");
  EXPECT_EQ(with([](auto& c) { c.channel_multiplier.clear(); }),
            "a Med-DDPM network needs at least one image channel, condition channel, residual"
            " block, base channel, head and level");
  EXPECT_EQ(with([](auto& c) { c.channel_multiplier.assign(9, 1); }),
            "a Med-DDPM network of more than 8 levels, 64 residual blocks a level or 65536 channels"
            " is beyond this program");
  EXPECT_EQ(with([](auto& c) { c.heads = 5; }),
            "op `input_blocks.7.1.attention` (attention): qkv is [1, 576, 16, 16, 16]; its channels"
            " must be a multiple of 3 x 5 heads");
}

}  // namespace
}  // namespace mezzotint
