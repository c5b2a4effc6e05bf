#include "runtime/arrangement.h"

#include <gtest/gtest.h>

#include <limits>

#include "graph/verifier.h"
#include "runtime/program_data.h"

namespace mezzotint {
namespace {

using testing::parse;

constexpr std::size_t kTensor = 4096 * sizeof(float);

// What the first op makes is read again at the end.
constexpr std::string_view kHeld = R"(input %x step float32[1, 4096]
%skip = silu(%x)
%a = silu(%skip)
%b = silu(%a)
%c = silu(%b)
%y = add(%c, %skip)
output %y
)";

std::vector<OpNeeds> needs_of(const Graph& graph, double seconds_of_first) {
  std::vector<OpNeeds> needs(graph.ops().size(), OpNeeds{{}, 1});
  needs[0].seconds = seconds_of_first;
  return needs;
}

std::string order_of(const Arrangement& arrangement) {
  std::string names;
  for (const OpId id : arrangement.order.ops) {
    names += arrangement.graph.op(id).name + " ";
  }
  return names;
}

std::string arranged(std::string_view text, double seconds_of_first) {
  const Graph graph = parse(text);
  const auto arrangement = arrange(graph, needs_of(graph, seconds_of_first));
  EXPECT_TRUE(arrangement.ok());
  return order_of(*arrangement);
}

TEST(Arrangement, ACheapResultIsMadeAgainInsteadOfHeld) {
  const Graph graph = parse(kHeld);
  const auto arrangement = arrange(graph, needs_of(graph, 0.01));
  ASSERT_TRUE(arrangement.ok());
  EXPECT_EQ(order_of(*arrangement), "skip a b c skip.again y ");
  EXPECT_TRUE(verify(arrangement->graph).ok());
  EXPECT_EQ(arrangement->origin, (std::vector<OpId>{0, 1, 2, 3, 0, 4}));
  EXPECT_EQ(arrangement->live.peak_bytes(), 2 * kTensor);
  EXPECT_EQ(arrangement->arena_bytes, 2 * kTensor);
}

TEST(Arrangement, WhatCostsTooMuchIsHeld) {
  constexpr std::string_view kOrder = "skip a b c y ";
  EXPECT_EQ(arranged(kHeld, 1), kOrder);
  EXPECT_EQ(arranged(kHeld, std::numeric_limits<double>::infinity()), kOrder);
  // 4 % of the time is the most that all repeated ops may take.
  EXPECT_EQ(arranged(kHeld, 4.0 * 0.05 / 0.95), kOrder);
  EXPECT_NE(arranged(kHeld, 4.0 * 0.03 / 0.97), kOrder);
}

TEST(Arrangement, OutputsAndResultsOfTheVolumeAreNotRepeated) {
  EXPECT_EQ(arranged(std::string(kHeld) + "output %skip\n", 0.01), "skip a b c y ");
  std::string of_volume(kHeld);
  of_volume.replace(of_volume.find("step"), 4, "volume");
  of_volume.replace(of_volume.find("%a = silu(%skip)"), 16, "%a = add(%skip, %z)");
  of_volume.insert(0, "input %z step float32[1, 4096]\n");
  EXPECT_EQ(arranged(of_volume, 0.01), "skip a b c y ");
}

// Not even a cheap op is run again where another amount is the peak.
TEST(Arrangement, NothingIsRepeatedThatDoesNotLowerThePeak) {
  EXPECT_EQ(arranged(R"(input %x step float32[1, 4096]
%skip = silu(%x)
%a = add(%skip, %skip)
%b = add(%a, %skip)
%y = add(%b, %skip)
output %y
)",
                     0.01),
            "skip a b y ");
}

}  // namespace
}  // namespace mezzotint
