#include "runtime/choices.h"

#include <gtest/gtest.h>

#include "backend/cpu/cpu_backend.h"
#include "runtime/explain.h"
#include "runtime/fake_backend.h"
#include "runtime/program_data.h"
#include "support/graph_runner.h"

namespace mezzotint {
namespace {

using testing::FakeBackend;
using testing::parse;
using testing::test_machine;

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
  backend.offer("fake.clever", 1, 1000).does = [](const OpView&) {
    return Work{.flops = 5e5, .priced_flops = 1e6, .bytes = 24e6};
  };
  const Explanation explanation =
      explain_op({graph, graph.op(0)}, backend, {test_machine(2)}, "", 0);
  EXPECT_DOUBLE_EQ(explanation.choices[0].cost_seconds, 4e6 / 1e9);
  EXPECT_DOUBLE_EQ(explanation.choices[1].cost_seconds, 1e6 / 1e9);
  EXPECT_DOUBLE_EQ(explanation.choices[1].predicted_seconds, 1e6 / 1e9 / 2);
  ASSERT_NE(explanation.chosen(), nullptr);
  EXPECT_EQ(explanation.chosen()->implementation, "fake.clever");
}

// A plan's implementation is taken though it costs more, and its refusals alone count.
TEST(Choices, FollowThePlan) {
  const Graph graph = parse(kAdd);
  FakeBackend backend;
  backend.offer("fake.fast", 10, 1000);
  backend.offer("fake.slow", 1, 1000);
  backend.offer("fake.never", 1, 1000).refuse = [](const OpView&) { return "never"; };
  const OpView view{graph, graph.op(0)};
  EXPECT_EQ(explain_op(view, backend, {test_machine()}, "fake.slow", 0).chosen()->implementation,
            "fake.slow");
  EXPECT_EQ(explain_op(view, backend, {test_machine()}, "fake.never", 0).chosen(), nullptr);
  EXPECT_TRUE(explain_op(view, backend, {test_machine()}, "fake.slow", 0).refusals().empty());
  EXPECT_EQ(explain_op(view, backend, {test_machine()}, "", 0).refusals().size(), 1u);
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
  const auto explained = explain(graph, *backend, options);
  ASSERT_TRUE(explained.ok()) << explained.error().message;
  ASSERT_EQ(explained->ops.size(), 4u);  // reorders at both ends
  for (const Explanation& explanation : explained->ops) {
    ASSERT_NE(explanation.chosen(), nullptr) << explanation.op;
    EXPECT_EQ(explanation.chosen()->refusal, "") << explanation.op;
  }
}

}  // namespace
}  // namespace mezzotint
