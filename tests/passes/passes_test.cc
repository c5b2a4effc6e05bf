#include "passes/passes.h"

#include <gtest/gtest.h>

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
%c = concat(%a, %b) -> float32[1, 6, 1, 1, 2]
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
  EXPECT_EQ(rewrite(kResBlock,
                    [](const Graph& graph) {
                      return grow_conv_regions(graph, [](const OpView&) { return true; });
                    }),
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
  const auto grown = grow_conv_regions(*graph, [](const OpView&) { return true; });
  ASSERT_TRUE(grown.ok()) << grown.error().message;
  const Op& op = grown->ops().back();
  const auto region = describe_conv({*grown, op});
  ASSERT_TRUE(region.has_value());
  const auto name = [&](std::size_t input) { return grown->value(op.inputs[input]).name; };
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
// residual.
TEST(Passes, RegionsStopWhereTheBackendRefuses) {
  const std::string text = rewrite(kResBlock, [](const Graph& graph) {
    return grow_conv_regions(graph, [](const OpView& view) {
      const auto region = describe_conv(view);
      return region && !region->moments && !region->sources[0].coefficients &&
             !region->sources.back().coefficients;
    });
  });
  EXPECT_NE(text.find("%conv = region(%n.0, %n.1, %w, %b, %v, %skip)"), std::string::npos) << text;
  EXPECT_NE(text.find("%moments = channel_moments(%conv)"), std::string::npos) << text;
}

TEST(Passes, NothingIsFusedWhenNothingIsAccepted) {
  const auto graph = graph_from_text(kResBlock);
  ASSERT_TRUE(graph.ok()) << graph.error().message;
  EXPECT_EQ(rewrite(kResBlock,
                    [](const Graph& g) {
                      return grow_conv_regions(g, [](const OpView&) { return false; });
                    }),
            to_text(*graph));
}

// A result that something else reads, or that is an output, cannot vanish into a region.
TEST(Passes, SharedResultsStayVisible) {
  const std::string text =
      rewrite(R"(input %x step float32[1, 1, 2, 2, 2]
parameter %w [1, 1, 1, 1, 1]
%y = conv3d(%x, %w)
%z = add(%y, %x)
output %z
output %y
)",
              [](const Graph& graph) {
                return grow_conv_regions(graph, [](const OpView&) { return true; });
              });
  EXPECT_NE(text.find("%y = conv3d(%x, %w)"), std::string::npos) << text;
  EXPECT_NE(text.find("%z = add(%y, %x)"), std::string::npos) << text;
}

}  // namespace
}  // namespace mezzotint
