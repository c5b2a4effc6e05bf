// What a region takes, and what it leaves, by what implementations accept.
#include <gtest/gtest.h>

#include <functional>

#include "graph/conv_region.h"
#include "graph/text.h"
#include "graph/verifier.h"
#include "passes/passes.h"

namespace mezzotint {
namespace {

// Grows with prices that one implementation makes: a reason why not, or nothing, which is free.
using Refuse = std::function<std::string(const OpView&)>;
std::string anything(const OpView& /*view*/) {
  return "";
}

Result<Grown> grow(const Graph& graph, const Refuse& refuse) {
  return grow_conv_regions(graph, [&](const OpView& view) {
    const std::string reason = refuse(view);
    return reason.empty() ? Price{0.0, {}} : Price{std::nullopt, {{"fake", reason}}};
  });
}

// Parses, grows, verifies, prints.
std::string grown_text(std::string_view text, const Refuse& refuse) {
  const auto graph = graph_from_text(text);
  EXPECT_TRUE(graph.ok()) << graph.error().message;
  const auto grown = grow(*graph, refuse);
  EXPECT_TRUE(grown.ok()) << grown.error().message;
  const Status status = verify(grown->graph);
  EXPECT_TRUE(status.ok()) << status.error().message;
  return to_text(grown->graph);
}

constexpr std::string_view kResBlock = R"(input %h step float32[1, 2, 2, 2, 2]
input %s step float32[1, 2, 2, 2, 2]
input %v step float32[1, 4]
input %k step float32[1, 4, 2]
parameter %skip.weight [4, 4, 1, 1, 1]
parameter %w [4, 4, 3, 3, 3]
parameter %b [4]
%cat = concat(%h, %s)
%skip = conv3d(%cat, %skip.weight)
%n.0 = affine(%h, %k) activation="silu"
%n.1 = affine(%s, %k) activation="silu" channel_offset=2
%n = concat(%n.0, %n.1)
%conv = conv3d(%n, %w, %b) padding=1
%time = add_channels(%conv, %v)
%sum = add(%skip, %time)
%moments = channel_moments(%sum)
output %sum
output %moments
)";

TEST(Growth, RegionsGrowAsFarAsTheyAreAccepted) {
  EXPECT_EQ(grown_text(kResBlock, anything),
            R"(input %h step float32[1, 2, 2, 2, 2]
input %s step float32[1, 2, 2, 2, 2]
input %v step float32[1, 4]
input %k step float32[1, 4, 2]
parameter %skip.weight [4, 4, 1, 1, 1]
parameter %w [4, 4, 3, 3, 3]
parameter %b [4]
%skip = region(%h, %s, %skip.weight) -> float32[1, 4, 2, 2, 2] {
  input %h step float32[1, 2, 2, 2, 2]
  input %s step float32[1, 2, 2, 2, 2]
  input %skip.weight model float32[4, 4, 1, 1, 1]
  %cat = concat(%h, %s) -> float32[1, 4, 2, 2, 2]
  %skip = conv3d(%cat, %skip.weight) -> float32[1, 4, 2, 2, 2]
  output %skip
}
%conv = region(%h, %k, %s, %w, %b, %v, %skip) -> float32[1, 4, 2, 2, 2], float64[1, 4, 2] {
  input %h step float32[1, 2, 2, 2, 2]
  input %k step float32[1, 4, 2]
  input %s step float32[1, 2, 2, 2, 2]
  input %w model float32[4, 4, 3, 3, 3]
  input %b model float32[4]
  input %v step float32[1, 4]
  input %skip step float32[1, 4, 2, 2, 2]
  %n.0 = affine(%h, %k) activation="silu" -> float32[1, 2, 2, 2, 2]
  %n.1 = affine(%s, %k) activation="silu" channel_offset=2 -> float32[1, 2, 2, 2, 2]
  %n = concat(%n.0, %n.1) -> float32[1, 4, 2, 2, 2]
  %conv = conv3d(%n, %w, %b) padding=1 -> float32[1, 4, 2, 2, 2]
  %time = add_channels(%conv, %v) -> float32[1, 4, 2, 2, 2]
  %sum = add(%skip, %time) -> float32[1, 4, 2, 2, 2]
  %moments = channel_moments(%sum) -> float64[1, 4, 2]
  output %sum
  output %moments
}
output %conv
output %conv:1
alias %moments = %conv:1
alias %sum = %conv
)");
}

// What a grown region says about itself is what was fused.
TEST(Growth, DescribesWhatAGrownRegionHolds) {
  const auto graph = graph_from_text(kResBlock);
  ASSERT_TRUE(graph.ok()) << graph.error().message;
  const auto grown = grow(*graph, anything);
  ASSERT_TRUE(grown.ok()) << grown.error().message;
  EXPECT_TRUE(grown->declined.empty());
  const Op& op = grown->graph.ops().back();
  const auto region = describe_conv({grown->graph, op});
  ASSERT_TRUE(region.has_value());
  const auto name = [&](std::size_t input) { return grown->graph.value(op.inputs[input]).name; };
  ASSERT_EQ(region->sources.size(), 2u);
  EXPECT_EQ(name(region->sources[0].input), "h");
  EXPECT_EQ(name(region->sources[1].input), "s");
  EXPECT_EQ(name(*region->sources[1].coefficients), "k");
  EXPECT_EQ(region->sources[1].channel_offset, 2);
  EXPECT_TRUE(region->sources[1].silu);
  EXPECT_EQ(name(region->weight), "w");
  EXPECT_EQ(name(*region->bias), "b");
  EXPECT_EQ(name(*region->time_vector), "v");
  EXPECT_EQ(name(*region->residual), "skip");
  EXPECT_EQ(region->moments, 1u);
  EXPECT_EQ(region->padding, 1);
}

// An implementation without affine on load or moments gets the sources, the time vector and the
// residual; the rest is declined for its reasons.
TEST(Growth, RegionsStopWhereTheBackendRefuses) {
  const auto graph = graph_from_text(kResBlock);
  ASSERT_TRUE(graph.ok()) << graph.error().message;
  const auto grown = grow(*graph, [](const OpView& view) -> std::string {
    const auto region = describe_conv(view);
    if (!region) {
      return "no convolution";
    }
    if (region->sources[0].coefficients || region->sources.back().coefficients) {
      return "no affine";
    }
    return region->moments ? "no moments" : "";
  });
  ASSERT_TRUE(grown.ok()) << grown.error().message;
  const std::string text = to_text(grown->graph);
  EXPECT_NE(text.find("%conv = region(%n.0, %n.1, %w, %b, %v, %skip)"), std::string::npos) << text;
  EXPECT_NE(text.find("%moments = channel_moments(%conv)"), std::string::npos) << text;
  ASSERT_EQ(grown->declined.size(), 3u);
  const std::string ops[] = {"n.0", "n.1", "moments"};
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(grown->declined[i].op, ops[i]);
    EXPECT_EQ(grown->declined[i].convolution, "conv");
    EXPECT_EQ(grown->declined[i].refusal, i < 2 ? "fake: no affine" : "fake: no moments");
  }
}

TEST(Growth, NothingIsFusedWhenNothingIsAccepted) {
  const auto graph = graph_from_text(kResBlock);
  ASSERT_TRUE(graph.ok()) << graph.error().message;
  EXPECT_EQ(grown_text(kResBlock, [](const OpView&) { return "never"; }), to_text(*graph));
}

// The ends of a network, and the finer level of a decoder: reorders and an interpolation go, too.
constexpr std::string_view kEnds = R"(input %x step float32[1, 2, 2, 2, 2]
input %m volume float32[1, 2, 2, 2, 2]
parameter %w [2, 4, 1, 1, 1]
parameter %w2 [2, 2, 1, 1, 1]
%x.last = reorder(%x) layout="channels_last"
%m.last = reorder(%m) layout="channels_last"
%cat = concat(%x.last, %m.last)
%first = conv3d(%cat, %w)
%up = upsample_trilinear(%first)
%last = conv3d(%up, %w2)
%out = reorder(%last) layout="row_major"
output %out
)";

TEST(Growth, RegionsReadRowMajorInterpolateAndWriteRowMajor) {
  EXPECT_EQ(grown_text(kEnds, anything), R"(input %x step float32[1, 2, 2, 2, 2]
input %m volume float32[1, 2, 2, 2, 2]
parameter %w [2, 4, 1, 1, 1]
parameter %w2 [2, 2, 1, 1, 1]
%first = region(%x, %m, %w) -> float32[1, 2, 2, 2, 2] channels_last {
  input %x step float32[1, 2, 2, 2, 2]
  input %m volume float32[1, 2, 2, 2, 2]
  input %w model float32[2, 4, 1, 1, 1]
  %x.last = reorder(%x) layout="channels_last" -> float32[1, 2, 2, 2, 2] channels_last
  %m.last = reorder(%m) layout="channels_last" -> float32[1, 2, 2, 2, 2] channels_last
  %cat = concat(%x.last, %m.last) -> float32[1, 4, 2, 2, 2] channels_last
  %first = conv3d(%cat, %w) -> float32[1, 2, 2, 2, 2] channels_last
  output %first
}
%last = region(%first, %w2) -> float32[1, 2, 4, 4, 4] {
  input %first step float32[1, 2, 2, 2, 2] channels_last
  input %w2 model float32[2, 2, 1, 1, 1]
  %up = upsample_trilinear(%first) -> float32[1, 2, 4, 4, 4] channels_last
  %last = conv3d(%up, %w2) -> float32[1, 2, 4, 4, 4] channels_last
  %out = reorder(%last) layout="row_major" -> float32[1, 2, 4, 4, 4]
  output %out
}
output %last
alias %out = %last
)");
}

// What a source is made of is taken step by step; what follows a reorder is another op's.
TEST(Growth, RegionsTakeNeighboursInTheirOrder) {
  const std::string text = grown_text(R"(input %x step float32[1, 2, 2, 2, 2]
input %k step float32[1, 2, 2]
parameter %w [2, 2, 1, 1, 1]
%x.last = reorder(%x) layout="channels_last"
%n = affine(%x.last, %k)
%y = conv3d(%n, %w)
%z = reorder(%y) layout="row_major"
%sum = add(%z, %x)
output %sum
)",
                                      anything);
  EXPECT_NE(text.find("%y = region(%x, %k, %w)"), std::string::npos) << text;
  EXPECT_NE(text.find("%sum = add(%y, %x)"), std::string::npos) << text;
}

// An interpolated volume that is read twice is made once, as an op of its own.
TEST(Growth, SourcesThatOthersReadStayVisible) {
  const std::string text = grown_text(R"(input %x step float32[1, 1, 2, 2, 2]
parameter %w [1, 1, 1, 1, 1]
%up = upsample_trilinear(%x)
%y = conv3d(%up, %w)
%z = silu(%up)
output %y
output %z
)",
                                      anything);
  EXPECT_NE(text.find("%y = conv3d(%up, %w)"), std::string::npos) << text;
}

// A result that something else reads, or that is an output, cannot vanish into a region.
TEST(Growth, SharedResultsStayVisible) {
  const std::string text = grown_text(R"(input %x step float32[1, 1, 2, 2, 2]
parameter %w [1, 1, 1, 1, 1]
%y = conv3d(%x, %w)
%z = add(%y, %x)
output %z
output %y
)",
                                      anything);
  EXPECT_NE(text.find("%y = conv3d(%x, %w)"), std::string::npos) << text;
  EXPECT_NE(text.find("%z = add(%y, %x)"), std::string::npos) << text;
}

}  // namespace
}  // namespace mezzotint
