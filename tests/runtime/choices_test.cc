#include "runtime/choices.h"

#include <gtest/gtest.h>

#include "backend/cpu/cpu_backend.h"
#include "runtime/fake_backend.h"
#include "runtime/lower.h"
#include "runtime/program_data.h"
#include "support/graph_runner.h"

namespace mezzotint {
namespace {

using testing::FakeBackend;
using testing::parse;
using testing::test_machine;

const Choice* chosen(const Explanation& explanation) {
  for (const Choice& choice : explanation.choices) {
    if (choice.chosen) {
      return &choice;
    }
  }
  return nullptr;
}

// 4 million elements: 4 MFLOP of adding, 48 MB read and written.
constexpr std::string_view kAdd =
    "input %a step float32[4, 1000000]\ninput %b step float32[4, 1000000]\n"
    "%sum = add(%a, %b)\noutput %sum\n";

// An implementation that works less than the direct form wins at the same rates, by what its row
// says for its work.
TEST(Choices, CountWhatAnImplementationDoes) {
  const Graph graph = parse(kAdd);
  FakeBackend backend;
  backend.offer("fake.direct", 1, 1000);
  backend.offer("fake.clever", 1, 1000).does = [](const OpView&) { return Work{1e6, 24e6}; };
  const auto explanations = explain(graph, backend, {test_machine(2), {}, {}});
  ASSERT_EQ(explanations.size(), 1u);
  const Explanation& explanation = explanations[0];
  EXPECT_DOUBLE_EQ(explanation.choices[0].cost_seconds, 4e6 / 1e9);
  EXPECT_DOUBLE_EQ(explanation.choices[1].cost_seconds, 1e6 / 1e9);
  EXPECT_DOUBLE_EQ(explanation.choices[1].predicted_seconds, 1e6 / 1e9 / 2);
  ASSERT_NE(chosen(explanation), nullptr);
  EXPECT_EQ(chosen(explanation)->implementation, "fake.clever");
}

TEST(Choices, AreExplainedForEachOp) {
  const Graph graph = parse(R"(input %x step float32[1, 16, 4, 3, 5]
parameter %w [32, 16, 3, 3, 3]
%y = conv3d(%x, %w) padding=1
%z = silu(%y)
output %z
)");
  const auto backend = make_cpu_backend();
  const CompileOptions options{test_machine(), {}, {}};
  const auto lowered = lower(graph, *backend, options);
  ASSERT_TRUE(lowered.ok()) << lowered.error().message;
  const auto explanations = explain(*lowered, *backend, options);
  ASSERT_EQ(explanations.size(), lowered->ops().size());
  for (const Explanation& explanation : explanations) {
    ASSERT_NE(chosen(explanation), nullptr) << explanation.op;
    EXPECT_EQ(chosen(explanation)->refusal, "") << explanation.op;
  }
}

}  // namespace
}  // namespace mezzotint
