// How regions grow by price: what costs no more together than apart is fused.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

#include "graph/text.h"
#include "passes/passes.h"

namespace mezzotint {
namespace {

// Prices: a convolution 10, any other op 1, a region what `region` says.
Grown grow(std::string_view text, const std::function<double(const OpView&)>& region) {
  const auto graph = graph_from_text(text);
  EXPECT_TRUE(graph.ok()) << graph.error().message;
  auto grown = grow_conv_regions(*graph, [&](const OpView& view) {
    const double plain = view.op.kind == OpKind::conv3d ? 10 : 1;
    return Price{view.op.kind == OpKind::region ? region(view) : plain, {}};
  });
  EXPECT_TRUE(grown.ok()) << grown.error().message;
  return std::move(*grown);
}

bool has_op(const Graph& graph, std::string_view name) {
  return std::ranges::any_of(graph.ops(), [&](const Op& op) { return op.name == name; });
}

constexpr std::string_view kSum = R"(input %x step float32[1, 1, 2, 2, 2]
parameter %w [1, 1, 1, 1, 1]
%y = conv3d(%x, %w)
%sum = add(%y, %x)
output %sum
)";

TEST(GrowthPrice, WhatCostsTheSameIsFused) {
  const Grown grown = grow(kSum, [](const OpView& view) {
    EXPECT_EQ(view.op.name, "y");  // as plans call it
    return 11.0;
  });
  EXPECT_EQ(grown.graph.ops().size(), 1u);
  EXPECT_TRUE(grown.declined.empty());
}

TEST(GrowthPrice, WhatCostsMoreStaysApart) {
  const Grown grown = grow(kSum, [](const OpView&) { return 11.5; });
  EXPECT_EQ(grown.graph.ops().size(), 2u);
  ASSERT_EQ(grown.declined.size(), 1u);
  EXPECT_EQ(grown.declined[0].convolution, "y");
  EXPECT_EQ(grown.declined[0].op, "sum");
  EXPECT_EQ(grown.declined[0].refusal, "");
  EXPECT_EQ(grown.declined[0].apart_seconds, 11);
  EXPECT_EQ(grown.declined[0].fused_seconds, 11.5);
}

// Each step is compared with the region before it, not with the convolution.
TEST(GrowthPrice, EachStepMustPay) {
  const Grown grown =
      grow(R"(input %x step float32[1, 1, 2, 2, 2]
input %v step float32[1, 1]
parameter %w [1, 1, 1, 1, 1]
%y = conv3d(%x, %w)
%time = add_channels(%y, %v)
%sum = add(%time, %x)
output %sum
)",
           [](const OpView& view) { return view.op.body->ops().size() == 2 ? 8 : 9.5; });
  ASSERT_EQ(grown.declined.size(), 1u);
  EXPECT_EQ(grown.declined[0].op, "sum");
  EXPECT_EQ(grown.declined[0].apart_seconds, 9);
}

// An interpolation of a volume is done once: at each step it would have to come for free.
TEST(GrowthPrice, WorkOfASlowerRateCountsNothing) {
  constexpr std::string_view kText = R"(input %x step float32[1, 1, 4, 4, 4]
input %m volume float32[1, 1, 2, 2, 2]
parameter %w [1, 2, 1, 1, 1]
%up = upsample_trilinear(%m)
%cat = concat(%x, %up)
%y = conv3d(%cat, %w)
output %y
)";
  const auto price = [](double with_up) {
    return [with_up](const OpView& view) { return view.op.body->ops().size() == 3 ? with_up : 10; };
  };
  EXPECT_FALSE(has_op(grow(kText, price(10)).graph, "up"));
  EXPECT_TRUE(has_op(grow(kText, price(10.5)).graph, "up"));
}

// A convolution of the mask does not become work of every step for the sake of an add.
TEST(GrowthPrice, RegionsDoNotBecomeFaster) {
  const Grown grown = grow(R"(input %x step float32[1, 1, 2, 2, 2]
input %m volume float32[1, 1, 2, 2, 2]
parameter %w [1, 1, 1, 1, 1]
%y = conv3d(%m, %w)
%sum = add(%y, %x)
output %sum
)",
                           [](const OpView&) { return 10.0; });
  EXPECT_TRUE(has_op(grown.graph, "y") && has_op(grown.graph, "sum"));
  ASSERT_EQ(grown.declined.size(), 1u);
  EXPECT_EQ(grown.declined[0].apart_seconds, 1);
}

// The joined tensor is made in any case.
TEST(GrowthPrice, AConcatThatOthersReadSavesNothing) {
  constexpr std::string_view kText = R"(input %x step float32[1, 1, 2, 2, 2]
parameter %w [1, 2, 1, 1, 1]
%cat = concat(%x, %x)
%y = conv3d(%cat, %w)
output %y
output %cat
)";
  EXPECT_EQ(grow(kText, [](const OpView&) { return 10.0; }).graph.ops()[1].kind, OpKind::region);
  EXPECT_EQ(grow(kText, [](const OpView&) { return 10.5; }).graph.ops()[1].kind, OpKind::conv3d);
}

// Of two convolutions that meet in an add one takes it, and what the other had against it does not
// matter.
TEST(GrowthPrice, WhatAnotherTookIsNotDeclined) {
  constexpr std::string_view kText = R"(input %x step float32[1, 1, 2, 2, 2]
parameter %w [1, 1, 1, 1, 1]
%a = conv3d(%x, %w)
%b = conv3d(%x, %w)
%sum = add(%a, %b)
output %sum
)";
  const Grown grown = grow(kText, [](const OpView& view) { return view.op.name == "b" ? 99 : 9; });
  ASSERT_EQ(grown.graph.ops().size(), 2u);
  EXPECT_EQ(grown.graph.ops()[1].name, "a");
  EXPECT_TRUE(grown.declined.empty());
}

// A convolution that nothing can compute alone takes what makes it computable.
TEST(GrowthPrice, AnythingIsCheaperThanImpossible) {
  const auto graph = graph_from_text(kSum);
  ASSERT_TRUE(graph.ok());
  const auto grown = grow_conv_regions(*graph, [](const OpView& view) {
    return view.op.kind == OpKind::conv3d ? Price{} : Price{1e9, {}};
  });
  ASSERT_TRUE(grown.ok());
  EXPECT_EQ(grown->graph.ops().size(), 1u);
}

}  // namespace
}  // namespace mezzotint
