// What a region takes when a plan says it.
#include <gtest/gtest.h>

#include <algorithm>

#include "graph/conv_region.h"
#include "graph/text.h"
#include "graph/verifier.h"
#include "passes/passes.h"

namespace mezzotint {
namespace {

constexpr std::string_view kBlock = R"(input %h step float32[1, 2, 2, 2, 2]
input %s step float32[1, 2, 2, 2, 2] channels_last
input %v step float32[1, 4]
input %k step float32[1, 4, 2]
parameter %skip.weight [4, 2, 1, 1, 1]
parameter %w [4, 4, 3, 3, 3]
parameter %b [4]
%h.last = reorder(%h) layout="channels_last"
%skip = conv3d(%s, %skip.weight)
%n.0 = affine(%h.last, %k) activation="silu"
%n.1 = affine(%s, %k) activation="silu" channel_offset=2
%n = concat(%n.0, %n.1)
%conv = conv3d(%n, %w, %b) padding=1
%time = add_channels(%conv, %v)
%sum = add(%skip, %time)
%moments = channel_moments(%sum)
%out = reorder(%sum) layout="row_major"
output %out
output %moments
)";

// Everything together costs nothing (or, if `dear`, more than apart); 1 each otherwise.
Grown grow(std::string_view text, const std::map<std::string, Fusions>& asked, bool dear = false) {
  const auto graph = graph_from_text(text);
  EXPECT_TRUE(graph.ok()) << graph.error().message;
  auto grown = grow_conv_regions(
      *graph,
      [&](const OpView& view) {
        return Price{view.op.kind != OpKind::region ? 1.0 : (dear ? 1e9 : 0.0), {}};
      },
      asked);
  EXPECT_TRUE(grown.ok()) << grown.error().message;
  const Status status = verify(grown->graph);
  EXPECT_TRUE(status.ok()) << status.error().message;
  return std::move(*grown);
}

Fusions taken_by(const Grown& grown, std::string_view convolution) {
  const auto found = std::ranges::find(grown.graph.ops(), convolution, &Op::name);
  EXPECT_NE(found, grown.graph.ops().end());
  return fusions_of(*found);
}

// Of all that a region might take, any choice that can be reached is taken as it is asked for,
// although it costs more; and what is asked for again is what was taken.
TEST(GrowthPlan, TakesExactlyWhatIsAsked) {
  const Fusions all{Fusion::kConcat, Fusion::kNormalise, Fusion::kReorderIn, Fusion::kTimeVector,
                    Fusion::kResidual};
  for (unsigned choice = 0; choice < 1U << all.size(); ++choice) {
    Fusions asked;
    unsigned bit = 0;
    for (const Fusion fusion : all) {
      if ((choice >> bit++ & 1U) != 0) {
        asked.insert(fusion);
      }
    }
    SCOPED_TRACE(describe(asked));
    Fusions reached = asked;
    // What is before a concatenation that stays, or a normalisation, or behind a sum.
    if (!asked.contains(Fusion::kConcat)) {
      reached.erase(Fusion::kNormalise);
    }
    if (!reached.contains(Fusion::kNormalise)) {
      reached.erase(Fusion::kReorderIn);
    }
    if (!asked.contains(Fusion::kTimeVector)) {
      reached.erase(Fusion::kResidual);
    }
    const Grown grown = grow(kBlock, {{"conv", asked}, {"skip", {}}}, /*dear=*/true);
    EXPECT_EQ(taken_by(grown, "conv"), reached);
    EXPECT_EQ(taken_by(grown, "skip"), Fusions());
  }
}

TEST(GrowthPlan, TakesWhatFollows) {
  EXPECT_EQ(
      taken_by(grow(kBlock, {{"conv", {Fusion::kTimeVector, Fusion::kResidual, Fusion::kMoments}}}),
               "conv"),
      (Fusions{Fusion::kTimeVector, Fusion::kResidual, Fusion::kMoments}));
  constexpr std::string_view kLast = R"(input %x step float32[1, 2, 2, 2, 2] channels_last
parameter %w [2, 2, 1, 1, 1]
%y = conv3d(%x, %w)
%out = reorder(%y) layout="row_major"
output %out
)";
  EXPECT_EQ(taken_by(grow(kLast, {{"y", {Fusion::kReorderOut}}}, true), "y"),
            Fusions{Fusion::kReorderOut});
  EXPECT_EQ(taken_by(grow(kLast, {{"y", {Fusion::kReorderIn}}}), "y"), Fusions());
}

TEST(GrowthPlan, SaysWhatItLeavesApart) {
  const Grown grown = grow(kBlock, {{"conv", {}}, {"skip", {}}});
  const auto declined = [&](std::string_view op) {
    const auto found = std::ranges::find(grown.declined, op, &Declined::op);
    return found == grown.declined.end() ? "" : found->refusal;
  };
  EXPECT_EQ(declined("n"), "the plan leaves it apart");
  EXPECT_EQ(declined("time"), "the plan leaves it apart");
  EXPECT_EQ(declined("n.0"), "a concatenation that stays reads it");
}

// A residual that the plan keeps from the later of two convolutions is there for the earlier one.
TEST(GrowthPlan, LeavesToAnotherWhatItMayNotTake) {
  const Grown grown =
      grow(kBlock, {{"conv", {Fusion::kTimeVector}}, {"skip", {Fusion::kResidual}}}, true);
  EXPECT_EQ(taken_by(grown, "conv"), Fusions{Fusion::kTimeVector});
  EXPECT_EQ(taken_by(grown, "skip"), Fusions{Fusion::kResidual});
}

// One source's affine alone cannot be named, so it is never taken alone.
TEST(GrowthPlan, SourcesAreLoadedInOneWay) {
  const auto graph = graph_from_text(kBlock);
  ASSERT_TRUE(graph.ok());
  const auto grown = grow_conv_regions(*graph, [](const OpView& view) {
    if (view.op.kind != OpKind::region) {
      return Price{1.0, {}};
    }
    const auto affines = std::ranges::count(view.op.body->ops(), OpKind::affine, &Op::kind);
    return Price{affines == 1 ? 0.0 : 1.0 + 3.0 * static_cast<double>(affines), {}};
  });
  ASSERT_TRUE(grown.ok());
  const Fusions taken = taken_by(*grown, "conv");
  EXPECT_TRUE(taken.contains(Fusion::kConcat));
  EXPECT_FALSE(taken.contains(Fusion::kNormalise));
}

}  // namespace
}  // namespace mezzotint
