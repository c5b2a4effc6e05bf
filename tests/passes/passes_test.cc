#include "passes/passes.h"

#include <gtest/gtest.h>

#include <algorithm>

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

Result<Graph> channels_last(const Graph& graph) {
  return assign_layouts(graph, [](const Op&) { return Layout::kChannelsLast; });
}

TEST(Passes, ChannelsLastReordersAtTheEdgesOnly) {
  EXPECT_EQ(rewrite(R"(input %x step float32[1, 2, 3, 1, 2]
input %t step float32[1]
%y = silu(%x)
%z = silu(%y)
output %z
output %t
)",
                    channels_last),
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
                    channels_last),
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

// Of two ops that read a value in the other layout one reorder serves both, and who reads it as it
// was made has no need of one. The caller's order is that of the ops in the middle here, and what
// they make is theirs.
TEST(Passes, EachOpHasItsLayout) {
  EXPECT_EQ(rewrite(R"(input %x step float32[1, 2, 3, 1, 2]
input %v step float32[1, 2]
parameter %w [2, 2, 1, 1, 1]
%last.a = conv3d(%x, %w)
%b = silu(%last.a)
%c = add(%last.a, %b)
%last.d = add_channels(%b, %v)
%last.e = conv3d(%last.d, %w)
%m = channel_moments(%b)
output %c
output %last.e
output %m
)",
                    [](const Graph& graph) {
                      return assign_layouts(graph, [](const Op& op) {
                        return op.name.starts_with("last") ? Layout::kChannelsLast
                                                           : Layout::kRowMajor;
                      });
                    }),
            R"(input %x step float32[1, 2, 3, 1, 2]
input %v step float32[1, 2]
parameter %w [2, 2, 1, 1, 1]
%x.channels_last = reorder(%x) layout="channels_last" -> float32[1, 2, 3, 1, 2] channels_last
%last.a = conv3d(%x.channels_last, %w) -> float32[1, 2, 3, 1, 2] channels_last
%last.a.row_major = reorder(%last.a) layout="row_major" -> float32[1, 2, 3, 1, 2]
%b = silu(%last.a.row_major) -> float32[1, 2, 3, 1, 2]
%c = add(%last.a.row_major, %b) -> float32[1, 2, 3, 1, 2]
%b.channels_last = reorder(%b) layout="channels_last" -> float32[1, 2, 3, 1, 2] channels_last
%last.d = add_channels(%b.channels_last, %v) -> float32[1, 2, 3, 1, 2] channels_last
%last.e = conv3d(%last.d, %w) -> float32[1, 2, 3, 1, 2] channels_last
%m = channel_moments(%b) -> float64[1, 2, 2]
%last.e.row_major = reorder(%last.e) layout="row_major" -> float32[1, 2, 3, 1, 2]
output %c
output %last.e.row_major
output %m
)");
}

// Single channels are read as they come by whoever is first, and copied for whoever is not.
TEST(Passes, AnInputOfOneChannelHasTheLayoutOfItsFirstReader) {
  for (const Layout first : {Layout::kRowMajor, Layout::kChannelsLast}) {
    const auto graph = graph_from_text(R"(input %x step float32[1, 1, 3, 1, 2]
%a = silu(%x)
%b = silu(%x)
output %a
output %b
)");
    ASSERT_TRUE(graph.ok());
    const auto laid_out = assign_layouts(*graph, [&](const Op& op) {
      return op.name == "a"
                 ? first
                 : (first == Layout::kRowMajor ? Layout::kChannelsLast : Layout::kRowMajor);
    });
    ASSERT_TRUE(laid_out.ok()) << laid_out.error().message;
    ASSERT_TRUE(verify(*laid_out).ok());
    EXPECT_EQ(laid_out->value(laid_out->inputs()[0]).type.layout, first);
    EXPECT_EQ(std::ranges::count(laid_out->ops(), OpKind::reorder, &Op::kind), 1);
  }
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

}  // namespace
}  // namespace mezzotint
