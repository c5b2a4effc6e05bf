#include "runtime/run_order.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <random>

#include "runtime/program_data.h"

namespace mezzotint {
namespace {

using testing::parse;

constexpr std::size_t kTensor = 4096 * sizeof(float);

// By name: the inputs in whose place an op may write.
std::vector<OpMemory> memory_of(const Graph& graph,
                                const std::map<std::string, AliasableInputs>& in_place) {
  std::vector<OpMemory> memory(graph.ops().size());
  for (OpId id = 0; id < memory.size(); ++id) {
    if (const auto found = in_place.find(graph.op(id).name); found != in_place.end()) {
      memory[id].aliasable_inputs = found->second;
    }
  }
  return memory;
}

std::string names_of(const Graph& graph, const RunOrder& order) {
  std::string names;
  for (const OpId id : order.ops) {
    names += graph.op(id).name + " ";
  }
  return names;
}

TEST(RunOrder, SlowerRatesComeFirst) {
  const Graph graph = parse(R"(input %x step float32[1, 4096]
input %mask volume float32[1, 4096]
%a = silu(%x)
%m = silu(%mask)
%y = add(%a, %m)
output %y
)");
  const RunOrder order = order_by_rate(graph);
  EXPECT_EQ(names_of(graph, order), "m a y ");
  EXPECT_EQ(order.first_step, 1U);
  // Every step reads m again, so it is never free; y is the caller's.
  const Liveness live = liveness_of(graph, order, memory_of(graph, {}));
  EXPECT_EQ(live.bytes, (std::vector<std::size_t>{kTensor, 2 * kTensor, 2 * kTensor}));
  EXPECT_EQ(live.values[*graph.find_value("m")].last, 3U);
  EXPECT_EQ(live.peak_bytes(), 2 * kTensor);
}

TEST(RunOrder, AnOpInPlaceRunsAfterItsInputsOtherReaders) {
  const Graph graph = parse(R"(input %x step float32[1, 4096]
%h = silu(%x)
%act = silu(%h)
%skip = add(%h, %h)
%y = add(%act, %skip)
output %y
)");
  const std::vector<OpMemory> memory = memory_of(graph, {{"act", {0}}});
  const RunOrder before = order_by_rate(graph);
  EXPECT_EQ(liveness_of(graph, before, memory).peak_bytes(), 3 * kTensor);
  const RunOrder after = reorder_for_memory(graph, before, memory);
  EXPECT_EQ(names_of(graph, after), "h skip act y ");
  const Liveness live = liveness_of(graph, after, memory);
  EXPECT_EQ(live.peak_bytes(), 2 * kTensor);
  EXPECT_EQ(live.in_place[2], graph.find_value("h"));
}

// A decoder's block whose first convolution applies the norm as it loads, and whose 1x1x1
// convolution may write over a source: the latter waits until it is the last reader.
TEST(RunOrder, ThreeTensorsDoForADecoderBlock) {
  const Graph graph = parse(R"(input %x step float32[1, 4096]
%h = silu(%x)
%skip = silu(%h)
%r = add(%h, %skip)
%conv1 = add(%h, %skip)
%act = silu(%conv1)
%conv2 = add(%act, %r)
%y = silu(%conv2)
output %y
)");
  const std::vector<OpMemory> memory =
      memory_of(graph, {{"r", {0, 1}}, {"act", {0}}, {"conv2", {1}}});
  const RunOrder before = order_by_rate(graph);
  EXPECT_EQ(liveness_of(graph, before, memory).peak_bytes(), 4 * kTensor);
  const RunOrder after = reorder_for_memory(graph, before, memory);
  EXPECT_EQ(liveness_of(graph, after, memory).peak_bytes(), 3 * kTensor) << names_of(graph, after);
}

// The few bytes of `early` are held through all of it.
TEST(RunOrder, StaysWhereNothingIsToGain) {
  const Graph graph = parse(R"(input %x step float32[1, 65536]
input %v step float32[1, 4]
%early = silu(%v)
%a = silu(%x)
%b = silu(%a)
%y = add(%b, %a)
%late = silu(%early)
output %y
output %late
)");
  const RunOrder before = order_by_rate(graph);
  const std::vector<OpMemory> memory = memory_of(graph, {});
  EXPECT_EQ(names_of(graph, reorder_for_memory(graph, before, memory)), "early a b y late ");
}

// What an order promises, and that no order is worse than the graph's own.
TEST(RunOrder, OfRandomGraphsIsTopologicalAndNoWorse) {
  std::mt19937 random(5);
  int better = 0;
  for (int round = 0; round < 200; ++round) {
    std::string text = "input %x step float32[1, 4096]\ninput %mask volume float32[1, 4096]\n";
    std::vector<std::string> names{"x", "mask"};
    std::map<std::string, AliasableInputs> in_place;
    for (int i = 0; i < 14; ++i) {
      const auto operand = [&] { return names[random() % names.size()]; };
      const std::string name = fmt::format("op{}", i);
      text += random() % 2 == 0 ? fmt::format("%{} = silu(%{})\n", name, operand())
                                : fmt::format("%{} = add(%{}, %{})\n", name, operand(), operand());
      names.push_back(name);
      if (random() % 2 == 0) {
        in_place[name] = {0};
      }
    }
    const Graph graph = parse(text + fmt::format("output %{}\n", names.back()));
    const std::vector<OpMemory> memory = memory_of(graph, in_place);
    const RunOrder before = order_by_rate(graph);
    const RunOrder after = reorder_for_memory(graph, before, memory);
    EXPECT_EQ(after.first_step, before.first_step);
    EXPECT_TRUE(std::is_permutation(after.ops.begin(), after.ops.end(), before.ops.begin()));
    std::vector<bool> made(graph.values().size(), false);
    for (std::size_t position = 0; position < after.ops.size(); ++position) {
      const Op& op = graph.op(after.ops[position]);
      EXPECT_EQ(graph.value(op.outputs[0]).rate == Rate::kStep, position >= after.first_step);
      for (const ValueId input : op.inputs) {
        EXPECT_TRUE(made[input] || graph.value(input).kind != ValueKind::kResult) << text;
      }
      made[op.outputs[0]] = true;
    }
    const std::size_t old_peak = liveness_of(graph, before, memory).peak_bytes();
    const std::size_t new_peak = liveness_of(graph, after, memory).peak_bytes();
    EXPECT_LE(new_peak, old_peak) << text;
    better += new_peak < old_peak ? 1 : 0;
  }
  EXPECT_GT(better, 20);  // else nothing was tested
}

}  // namespace
}  // namespace mezzotint
