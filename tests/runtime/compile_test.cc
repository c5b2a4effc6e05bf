#include "runtime/compile.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <map>

#include "backend/cpu/cpu_backend.h"
#include "backend/ref/evaluate.h"
#include "backend/ref/ref_backend.h"
#include "graph/text.h"
#include "mezzotint/cancel.h"
#include "support/graph_runner.h"
#include "support/random_fill.h"
#include "support/tolerance.h"

namespace mezzotint {
namespace {

using testing::difference;
using testing::random_floats;
using testing::test_machine;

// A residual block over a concatenation, as a UNet's decoder has it, with a condition of a slower
// rate.
constexpr std::string_view kBlock = R"(input %x step float32[1, 16, 4, 3, 5]
input %mask volume float32[1, 16, 4, 3, 5]
input %v step float32[1, 32]
parameter %mask.weight [16, 16, 1, 1, 1]
parameter %norm.weight [32]
parameter %norm.bias [32]
parameter %skip.weight [32, 32, 1, 1, 1]
parameter %conv.weight [32, 32, 3, 3, 3]
parameter %conv.bias [32]
%mask.conv = conv3d(%mask, %mask.weight)
%cat = concat(%x, %mask.conv)
%skip = conv3d(%cat, %skip.weight)
%norm.moments = channel_moments(%cat)
%norm = group_norm_coefficients(%norm.moments, %norm.weight, %norm.bias) eps=1e-05 groups=8
%act = affine(%cat, %norm) activation="silu"
%conv = conv3d(%act, %conv.weight, %conv.bias) padding=1
%time = add_channels(%conv, %v)
%block = add(%time, %skip)
output %block
)";

Graph parse(std::string_view text) {
  auto graph = graph_from_text(text);
  EXPECT_TRUE(graph.ok()) << graph.error().message;
  return std::move(*graph);
}

// Random values for every input and parameter, and the truth of every value.
class Data final : public ParameterSource {
 public:
  explicit Data(const Graph& graph) {
    std::uint64_t seed = 1;
    for (const auto ids : {graph.inputs(), graph.parameters()}) {
      for (const ValueId id : ids) {
        const Value& value = graph.value(id);
        values_[value.name] = random_floats(value.type.shape.elements(), seed++);
      }
    }
  }

  Status read(std::string_view name, std::span<float> out) override {
    const std::vector<float>& stored = values_.find(name)->second;
    std::copy(stored.begin(), stored.end(), out.begin());
    return {};
  }

  std::vector<float>& at(std::string_view name) { return values_.find(name)->second; }

  Binding bind(std::string_view name) {
    std::vector<float>& stored = at(name);
    return {name, reinterpret_cast<std::byte*>(stored.data()), stored.size() * sizeof(float)};
  }

  std::vector<double> truth(const Graph& graph, std::string_view name) const {
    ref::Bindings bindings;
    for (const auto& [key, value] : values_) {
      bindings[key] = {graph.value(*graph.find_value(key)).type.shape,
                       {value.begin(), value.end()}};
    }
    const auto all = ref::evaluate(graph, bindings, ThreadTeam(2));
    EXPECT_TRUE(all.ok()) << all.error().message;
    return (*all)[*graph.find_value(name)].data;
  }

 private:
  std::map<std::string, std::vector<float>, std::less<>> values_;
};

Binding bind_output(std::string_view name, std::vector<float>& out) {
  return {name, reinterpret_cast<std::byte*>(out.data()), out.size() * sizeof(float)};
}

struct Fixture {
  std::unique_ptr<Backend> backend;
  CompileOptions options;
};

std::vector<Fixture> backends() {
  std::vector<Fixture> all;
  all.push_back({make_ref_backend(), {test_machine(), {}, {}}});
  all.push_back({make_cpu_backend(), {test_machine(), {}, {}}});
  return all;
}

TEST(Compile, ComputesWhatTheGraphSays) {
  const Graph graph = parse(kBlock);
  Data data(graph);
  const std::vector<double> truth = data.truth(graph, "block");
  for (const Fixture& fixture : backends()) {
    auto program = compile(graph, *fixture.backend, fixture.options);
    ASSERT_TRUE(program.ok()) << program.error().message;
    ASSERT_TRUE(program->load(data).ok());
    const auto arena = program->make_arena();
    ASSERT_TRUE(arena.ok());
    const RunOptions run{ThreadTeam(2), nullptr, {}};
    const Binding volume[] = {data.bind("mask")};
    Status status = program->run(Rate::kVolume, volume, *arena, run);
    ASSERT_TRUE(status.ok()) << status.error().message;
    std::vector<float> out(truth.size());
    // Twice: what the volume's pass left in the arena must survive a step.
    for (int step = 0; step < 2; ++step) {
      std::fill(out.begin(), out.end(), 0.0F);
      const Binding bindings[] = {data.bind("x"), data.bind("mask"), data.bind("v"),
                                  bind_output("block", out)};
      status = program->run(Rate::kStep, bindings, *arena, run);
      ASSERT_TRUE(status.ok()) << status.error().message;
      // Sums of 27 x 32 products of numbers below 1: float32 rounding grows like the square root.
      EXPECT_LT(difference(out, truth).relative_l2, 1e-6) << fixture.backend->name();
    }
  }
}

TEST(Compile, WorkOfTheVolumeIsDoneOncePerVolume) {
  const Graph graph = parse(kBlock);
  const auto backend = make_ref_backend();
  const auto program = compile(graph, *backend, {test_machine(), {}, {}});
  ASSERT_TRUE(program.ok()) << program.error().message;
  for (const ProgramOp& op : program->ops()) {
    const bool slow =
        op.name == "mask.conv" || op.name == "mask.channels_last" || op.name == "norm.moments.1";
    EXPECT_EQ(op.rate != Rate::kStep, slow) << op.name;
  }
}

TEST(Compile, PeakIsKnownAndNeverExceeded) {
  // Four activations exist, but only two at a time.
  const Graph graph = parse(R"(input %x step float32[1, 1024]
%a = silu(%x)
%b = silu(%a)
%c = silu(%b)
%d = silu(%c)
output %d
)");
  const auto backend = make_ref_backend();
  const auto program = compile(graph, *backend, {test_machine(), {}, {}});
  ASSERT_TRUE(program.ok()) << program.error().message;
  EXPECT_LE(program->arena_bytes(), 2u * 1024u * sizeof(float));
  EXPECT_GE(program->arena_bytes(), 1024u * sizeof(float));
}

TEST(Compile, KeptActivationsBecomeOutputs) {
  const Graph graph = parse(kBlock);
  Data data(graph);
  for (Fixture& fixture : backends()) {
    fixture.options.keep = {"conv", "act"};
    auto program = compile(graph, *fixture.backend, fixture.options);
    ASSERT_TRUE(program.ok()) << program.error().message;
    ASSERT_TRUE(program->load(data).ok());
    const auto arena = program->make_arena();
    const RunOptions run{ThreadTeam(2), nullptr, {}};
    const Binding volume[] = {data.bind("mask")};
    ASSERT_TRUE(program->run(Rate::kVolume, volume, *arena, run).ok());
    const std::vector<double> conv = data.truth(graph, "conv");
    const std::vector<double> act = data.truth(graph, "act");
    std::vector<float> out(conv.size());
    std::vector<float> conv_out(conv.size());
    std::vector<float> act_out(act.size());
    const Binding bindings[] = {data.bind("x"),
                                data.bind("mask"),
                                data.bind("v"),
                                bind_output("block", out),
                                bind_output("conv", conv_out),
                                bind_output("act", act_out)};
    const Status status = program->run(Rate::kStep, bindings, *arena, run);
    ASSERT_TRUE(status.ok()) << status.error().message;
    EXPECT_LT(difference(conv_out, conv).relative_l2, 1e-6) << fixture.backend->name();
    EXPECT_LT(difference(act_out, act).relative_l2, 1e-6) << fixture.backend->name();
  }
}

TEST(Compile, UnknownNamesAreRefused) {
  const Graph graph = parse(kBlock);
  const auto backend = make_ref_backend();
  CompileOptions options;
  options.machine = test_machine();
  options.keep = {"nothing"};
  auto program = compile(graph, *backend, options);
  ASSERT_FALSE(program.ok());
  EXPECT_NE(program.error().message.find("nothing: the model has no such op or module"),
            std::string::npos);
  options.keep.clear();
  options.plan.entries["nowhere"].implementation = "ref.loops";
  program = compile(graph, *backend, options);
  ASSERT_FALSE(program.ok());
  EXPECT_NE(program.error().message.find("plan: the model has no op nowhere"), std::string::npos);
  options.plan.entries.clear();
  options.plan.entries["conv"].implementation = "magic";
  program = compile(graph, *backend, options);
  ASSERT_FALSE(program.ok());
  EXPECT_NE(program.error().message.find("the plan asks for magic"), std::string::npos);
}

class Program1D : public ::testing::Test {
 protected:
  void SetUp() override {
    graph_ = parse("input %x step float32[1, 4]\n%a = silu(%x)\n%b = silu(%a)\noutput %b\n");
    backend_ = make_ref_backend();
    auto program = compile(graph_, *backend_, {test_machine(1), {}, {}});
    ASSERT_TRUE(program.ok()) << program.error().message;
    program_ = std::move(*program);
    auto arena = program_->make_arena();
    ASSERT_TRUE(arena.ok());
    arena_ = std::move(*arena);
  }

  Status run(const CancelToken* cancel, std::span<Listener* const> listeners) {
    const Binding bindings[] = {bind_output("x", x_), bind_output("b", out_)};
    return program_->run(Rate::kStep, bindings, arena_, {ThreadTeam(1), cancel, listeners});
  }

  Graph graph_;
  std::unique_ptr<Backend> backend_;
  std::optional<Program> program_;
  AlignedBuffer arena_;
  std::vector<float> x_{1, 2, 3, 4};
  std::vector<float> out_ = std::vector<float>(4);
};

TEST_F(Program1D, StopsOnRequest) {
  CancelToken cancel;
  EXPECT_TRUE(run(&cancel, {}).ok());
  cancel.request();
  const Status status = run(&cancel, {});
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().code, ErrorCode::kCancelled);
}

TEST_F(Program1D, NamesTheFirstOpThatIsNotFinite) {
  FiniteCheck finite;
  Listener* const listeners[] = {&finite};
  EXPECT_TRUE(run(nullptr, listeners).ok());
  x_[2] = std::numeric_limits<float>::quiet_NaN();
  const Status status = run(nullptr, listeners);
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().code, ErrorCode::kNumerics);
  EXPECT_NE(status.error().message.find("op a (ref.loops) is the first"), std::string::npos)
      << status.error().message;
}

TEST_F(Program1D, RefusesWrongBindings) {
  const Binding unknown[] = {bind_output("y", x_)};
  Status status = program_->run(Rate::kStep, unknown, arena_, {ThreadTeam(1), nullptr, {}});
  ASSERT_FALSE(status.ok());
  EXPECT_NE(status.error().message.find("binding y: the graph has no such"), std::string::npos);
  const Binding missing[] = {bind_output("x", x_)};
  status = program_->run(Rate::kStep, missing, arena_, {ThreadTeam(1), nullptr, {}});
  ASSERT_FALSE(status.ok());
  EXPECT_NE(status.error().message.find("needs b, which is not bound"), std::string::npos);
  out_.resize(3);
  status = run(nullptr, {});
  ASSERT_FALSE(status.ok());
  EXPECT_NE(status.error().message.find("binding b: 12 bytes, expected 16"), std::string::npos);
}

TEST(Explain, GivesEachImplementationAYesOrAReason) {
  const Graph graph = parse(kBlock);
  const auto backend = make_cpu_backend();
  const CompileOptions options{test_machine(), {}, {}};
  const auto lowered = lower(graph, *backend, options);
  ASSERT_TRUE(lowered.ok()) << lowered.error().message;
  const auto explanations = explain(*lowered, *backend, options);
  ASSERT_EQ(explanations.size(), lowered->ops().size());
  for (const Explanation& explanation : explanations) {
    int chosen = 0;
    for (const Choice& choice : explanation.choices) {
      chosen += choice.chosen ? 1 : 0;
      EXPECT_TRUE(!choice.chosen || choice.refusal.empty());
    }
    EXPECT_EQ(chosen, 1) << explanation.op;
  }
}

}  // namespace
}  // namespace mezzotint
