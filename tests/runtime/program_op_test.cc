// What a program says about its ops, and when.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "backend/cpu/cpu_backend.h"
#include "runtime/program_data.h"
#include "support/graph_runner.h"

namespace mezzotint::testing {
namespace {

constexpr std::string_view kGraph = R"(input %x step float32[1, 32, 16, 16, 16]
parameter %a.weight [32, 32, 3, 3, 3]
parameter %b.weight [32, 32, 3, 3, 3]
%s = silu(%x)
%a = conv3d(%s, %a.weight) padding=1
%t = silu(%a)
%b = conv3d(%t, %b.weight) padding=1
output %b
)";

Program compiled(const Graph& graph, bool allow_in_place) {
  CompileOptions options{test_machine(), {}, {}};
  options.allow_in_place = allow_in_place;
  const auto backend = make_cpu_backend();
  auto program = compile(graph, *backend, options);
  EXPECT_TRUE(program.ok()) << program.error().message;
  return std::move(*program);
}

TEST(ProgramOp, SaysWhatItsImplementationDoes) {
  const Graph graph = parse(kGraph);
  const Program program = compiled(graph, true);
  int winograd = 0;
  for (const ProgramOp& op : program.ops()) {
    if (op.implementation.find("winograd") != std::string::npos) {
      ++winograd;
      EXPECT_LT(op.work.flops, op.flops) << op.name;
      // What the kernel holds besides, the bias for one, is small.
      EXPECT_LE(op.work.packed_bytes, op.packed_bytes) << op.name;
      EXPECT_GT(op.work.packed_bytes, 0.99 * op.packed_bytes) << op.name;
    }
    EXPECT_EQ(op.work.flops > 0, op.kind != OpKind::reorder) << op.name;
    EXPECT_GT(op.work.bytes, 0) << op.name;
    EXPECT_EQ(op.work.unit, MathUnit::kFma);
  }
  EXPECT_GT(winograd, 0);
}

TEST(ProgramOp, SaysWhatIsLiveWhileItRuns) {
  const Graph graph = parse(kGraph);
  for (const bool in_place : {true, false}) {
    const Program program = compiled(graph, in_place);
    std::size_t most = 0;
    for (const ProgramOp& op : program.ops()) {
      EXPECT_GE(op.live_bytes, op.workspace_bytes) << op.name;
      EXPECT_LE(op.live_bytes, program.arena_bytes()) << op.name;
      most = std::max(most, op.live_bytes);
    }
    // A chain leaves no holes.
    EXPECT_EQ(most, program.arena_bytes());
  }
}

class Order final : public Listener {
 public:
  void before_op(const ProgramOp& op) override { events_.push_back("before " + op.name); }
  Status on_op(const OpEvent& event) override {
    events_.push_back("after " + event.op.name);
    return {};
  }

  [[nodiscard]] const std::vector<std::string>& events() const { return events_; }

 private:
  std::vector<std::string> events_;
};

TEST(Listener, HearsOfEachOpBeforeAndAfterIt) {
  const Graph graph = parse(kGraph);
  Program program = compiled(graph, true);
  Data data(graph);
  ASSERT_TRUE(program.load(data).ok());
  const auto arena = program.make_arena();
  ASSERT_TRUE(arena.ok());
  std::vector<float> out(32 * 16 * 16 * 16);
  const Binding bindings[] = {data.bind("x"), bind_output("b", out)};
  Order order;
  Listener* const listeners[] = {&order};
  ASSERT_TRUE(program.run(Rate::kStep, bindings, *arena, {ThreadTeam(2), nullptr, listeners}).ok());
  std::vector<std::string> expected;
  for (const ProgramOp& op : program.ops()) {
    expected.push_back("before " + op.name);
    expected.push_back("after " + op.name);
  }
  EXPECT_EQ(order.events(), expected);
}

}  // namespace
}  // namespace mezzotint::testing
