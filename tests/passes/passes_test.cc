#include "passes/passes.h"

#include <gtest/gtest.h>

#include <functional>

#include "graph/conv_region.h"
#include "graph/text.h"
#include "graph/verifier.h"

namespace mezzotint {
namespace {

// Parses, rewrites, verifies, prints.
template <typename Pass>
std::string rewrite(std::string_view text, const Pass& pass) {
  const auto graph = graph_from_text(text);
  EXPECT_TRUE(graph.ok()) << graph.error().message;
  const auto rewritten = pass(*graph);
  EXPECT_TRUE(rewritten.ok()) << rewritten.error().message;
  const Status status = verify(*rewritten);
  EXPECT_TRUE(status.ok()) << status.error().message;
  return to_text(*rewritten);
}

TEST(Passes, DeadOpsGoAndLiveOnesStay) {
  EXPECT_EQ(rewrite(R"(input %x step float32[1, 4]
%dead = silu(%x)
%live = silu(%x)
%dead2 = silu(%dead)
output %live
)",
                    remove_dead_ops),
            R"(input %x step float32[1, 4]
%live = silu(%x) -> float32[1, 4]
output %live
)");
}

TEST(Passes, ARepeatedOpServesItsLateReaders) {
  const auto repeat = [](const Graph& graph) {
    const auto id = [&](std::string_view name) {
      return graph.value(*graph.find_value(name)).producer;
    };
    const OpId late[] = {id("y"), id("c")};
    return repeat_op(graph, id("a"), late);
  };
  EXPECT_EQ(rewrite(R"(input %x step float32[1, 4]
%a = silu(%x)
%b = silu(%a)
%c = add(%b, %a)
%d = add(%a, %c)
%y = add(%d, %a)
output %y
)",
                    repeat),
            R"(input %x step float32[1, 4]
%a = silu(%x) -> float32[1, 4]
%b = silu(%a) -> float32[1, 4]
%a.again = silu(%x) -> float32[1, 4]
%c = add(%b, %a.again) -> float32[1, 4]
%d = add(%a, %c) -> float32[1, 4]
%y = add(%d, %a.again) -> float32[1, 4]
output %y
)");
}

// Regions may have several outputs.
TEST(Passes, ARepeatedOpServesAllThatItMakes) {
  const auto repeat = [](const Graph& graph) {
    const OpId late[] = {2, 3};
    return repeat_op(graph, 0, late);
  };
  const std::string rewritten = rewrite(R"(input %x step float32[1, 2, 1, 1, 2]
parameter %w [2]
%r = region(%x) {
  input %x step float32[1, 2, 1, 1, 2]
  %s = silu(%x)
  %m = channel_moments(%s)
  output %s
  output %m
}
%a = silu(%r)
%c = group_norm_coefficients(%r:1, %w, %w) eps=1e-05 groups=1
%y = affine(%r, %c)
output %a
output %y
)",
                                        repeat);
  EXPECT_NE(rewritten.find("%y = affine(%r.again, %c)"), std::string::npos) << rewritten;
  EXPECT_NE(rewritten.find("coefficients(%r.again:1, "), std::string::npos) << rewritten;
  EXPECT_NE(rewritten.find("%a = silu(%r)"), std::string::npos) << rewritten;
}

TEST(Passes, ConcatSinksBelowAffineAndMoments) {
  EXPECT_EQ(rewrite(R"(input %a step float32[1, 2, 1, 1, 2]
input %b step float32[1, 4, 1, 1, 2]
input %k step float32[1, 7, 2]
%c = concat(%a, %b)
%m = channel_moments(%c)
%n = affine(%c, %k) activation="silu" channel_offset=1
output %m
output %n
)",
                    sink_concat),
            R"(input %a step float32[1, 2, 1, 1, 2]
input %b step float32[1, 4, 1, 1, 2]
input %k step float32[1, 7, 2]
%m.0 = channel_moments(%a) -> float64[1, 2, 2]
%m.1 = channel_moments(%b) -> float64[1, 4, 2]
%m = concat(%m.0, %m.1) -> float64[1, 6, 2]
%n.0 = affine(%a, %k) activation="silu" channel_offset=1 -> float32[1, 2, 1, 1, 2]
%n.1 = affine(%b, %k) activation="silu" channel_offset=3 -> float32[1, 4, 1, 1, 2]
%n = concat(%n.0, %n.1) -> float32[1, 6, 1, 1, 2]
output %m
output %n
)");
}

TEST(Passes, ChannelsLastReordersAtTheEdgesOnly) {
  EXPECT_EQ(rewrite(R"(input %x step float32[1, 2, 3, 1, 2]
input %t step float32[1]
%y = silu(%x)
%z = silu(%y)
output %z
output %t
)",
                    use_channels_last),
            R"(input %x step float32[1, 2, 3, 1, 2]
input %t step float32[1]
%x.channels_last = reorder(%x) layout="channels_last" -> float32[1, 2, 3, 1, 2] channels_last
%y = silu(%x.channels_last) -> float32[1, 2, 3, 1, 2] channels_last
%z = silu(%y) -> float32[1, 2, 3, 1, 2] channels_last
%z.row_major = reorder(%z) layout="row_major" -> float32[1, 2, 3, 1, 2]
output %z.row_major
output %t
)");
}

TEST(Passes, ChannelsLastMovesNothingOfOneChannel) {
  EXPECT_EQ(rewrite(R"(input %x step float32[2, 1, 3, 1, 2]
input %m volume float32[2, 2, 3, 1, 2]
parameter %w [1, 3, 1, 1, 1]
%c = concat(%x, %m)
%y = conv3d(%c, %w)
output %y
output %c
)",
                    use_channels_last),
            R"(input %x step float32[2, 1, 3, 1, 2] channels_last
input %m volume float32[2, 2, 3, 1, 2]
parameter %w [1, 3, 1, 1, 1]
%m.channels_last = reorder(%m) layout="channels_last" -> float32[2, 2, 3, 1, 2] channels_last
%c = concat(%x, %m.channels_last) -> float32[2, 3, 3, 1, 2] channels_last
%y = conv3d(%c, %w) -> float32[2, 1, 3, 1, 2] channels_last
%c.row_major = reorder(%c) layout="row_major" -> float32[2, 3, 3, 1, 2]
output %y
output %c.row_major
)");
}

TEST(Passes, AConcatThatOthersReadStays) {
  const std::string text = rewrite(R"(input %a step float32[1, 2, 1, 1, 2]
%c = concat(%a, %a)
%m = channel_moments(%c)
output %m
output %c
)",
                                   sink_concat);
  EXPECT_NE(text.find("%c = concat(%a, %a)"), std::string::npos) << text;
  EXPECT_NE(text.find("%m.1 = channel_moments(%a)"), std::string::npos) << text;
}

TEST(Passes, EqualOpsAreComputedOnce) {
  EXPECT_EQ(rewrite(R"(input %a step float32[1, 2, 1, 1, 2]
%m = channel_moments(%a)
%n = channel_moments(%a)
%m2 = concat(%m, %n)
%n2 = concat(%n, %m)
%both = concat(%m2, %n2)
output %both
)",
                    merge_equal_ops),
            R"(input %a step float32[1, 2, 1, 1, 2]
%m = channel_moments(%a) -> float64[1, 2, 2]
%m2 = concat(%m, %m) -> float64[1, 4, 2]
%both = concat(%m2, %m2) -> float64[1, 8, 2]
output %both
alias %n = %m
alias %n2 = %m2
)");
}

// Other attributes, other inputs, another order of inputs, and results that a caller wants each in
// memory of its own.
TEST(Passes, OpsThatDifferAreNotMerged) {
  constexpr std::string_view kText = R"(input %a step float32[1, 2, 1, 1, 2]
input %k step float32[1, 4, 2]
%n = affine(%a, %k) activation="silu" -> float32[1, 2, 1, 1, 2]
%n2 = affine(%a, %k) -> float32[1, 2, 1, 1, 2]
%n3 = affine(%n, %k) -> float32[1, 2, 1, 1, 2]
%s = add(%n2, %n3) -> float32[1, 2, 1, 1, 2]
%s2 = add(%n3, %n2) -> float32[1, 2, 1, 1, 2]
%y = add(%s, %s2) -> float32[1, 2, 1, 1, 2]
%y2 = add(%s, %s2) -> float32[1, 2, 1, 1, 2]
output %y
output %y2
)";
  EXPECT_EQ(rewrite(kText, merge_equal_ops), kText);
}

// Every row of the time vectors at the volume rate; steps pick theirs, once each.
TEST(Passes, WhatFollowsFromTheTimestepIsTabulated) {
  EXPECT_EQ(rewrite(R"(input %x step float32[2, 3, 1, 1, 2]
input %t step float32[2]
parameter %w [3, 4]
parameter %b [3]
%e = timestep_embedding(%t) dim=4 max_period=1000.0
%l = linear(%e, %w, %b)
%s = silu(%l)
%y = add_channels(%x, %l)
%z = add_channels(%y, %s)
%u = add_channels(%z, %s)
output %u
alias %time = %l
)",
                    [](const Graph& graph) { return tabulate_steps(graph, "t", 25); }),
            R"(input %x step float32[2, 3, 1, 1, 2]
input %t volume float32[25]
parameter %w [3, 4]
parameter %b [3]
input %step step int32[2]
%e = timestep_embedding(%t) dim=4 max_period=1000.0 -> float32[25, 4]
%l = linear(%e, %w, %b) -> float32[25, 3]
%s = silu(%l) -> float32[25, 3]
%l.row = select_rows(%l, %step) -> float32[2, 3]
%y = add_channels(%x, %l.row) -> float32[2, 3, 1, 1, 2]
%s.row = select_rows(%s, %step) -> float32[2, 3]
%z = add_channels(%y, %s.row) -> float32[2, 3, 1, 1, 2]
%u = add_channels(%z, %s.row) -> float32[2, 3, 1, 1, 2]
output %u
alias %time = %l
)");
}

// What mixes rows, depends on x too, or is an output stays a row of each step.
TEST(Passes, TablesEndWhereStepsMustBeSeen) {
  EXPECT_EQ(rewrite(R"(input %x step float32[1, 4]
input %t step float32[1]
parameter %w [4, 4]
%e = timestep_embedding(%t) dim=4 max_period=1000.0
%sum = add(%e, %x)
%twice = concat(%e, %e)
%l = linear(%sum, %w)
%last = silu(%e)
output %l
output %twice
output %last
)",
                    [](const Graph& graph) { return tabulate_steps(graph, "t", 3); }),
            R"(input %x step float32[1, 4]
input %t volume float32[3]
parameter %w [4, 4]
input %step step int32[1]
%e = timestep_embedding(%t) dim=4 max_period=1000.0 -> float32[3, 4]
%e.row = select_rows(%e, %step) -> float32[1, 4]
%sum = add(%e.row, %x) -> float32[1, 4]
%twice = concat(%e.row, %e.row) -> float32[1, 8]
%l = linear(%sum, %w) -> float32[1, 4]
%last = silu(%e.row) -> float32[1, 4]
output %l
output %twice
output %last
)");
}

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

std::string grown_text(std::string_view text, const Refuse& refuse) {
  return rewrite(text, [&](const Graph& graph) -> Result<Graph> {
    auto grown = grow(graph, refuse);
    if (!grown) {
      return grown.error();
    }
    return std::move(grown->graph);
  });
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

TEST(Passes, RegionsGrowAsFarAsTheyAreAccepted) {
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
TEST(Passes, DescribesWhatAGrownRegionHolds) {
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
TEST(Passes, RegionsStopWhereTheBackendRefuses) {
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

TEST(Passes, NothingIsFusedWhenNothingIsAccepted) {
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

TEST(Passes, RegionsReadRowMajorInterpolateAndWriteRowMajor) {
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
TEST(Passes, RegionsTakeNeighboursInTheirOrder) {
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
TEST(Passes, SourcesThatOthersReadStayVisible) {
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
TEST(Passes, SharedResultsStayVisible) {
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
