#include "runtime/compile.h"

#include <gtest/gtest.h>

#include <limits>

#include "backend/cpu/cpu_backend.h"
#include "backend/ref/ref_backend.h"
#include "base/error.h"
#include "mezzotint/cancel.h"
#include "runtime/program_data.h"
#include "support/graph_runner.h"
#include "support/tolerance.h"

namespace mezzotint {
namespace {

using testing::bind_output;
using testing::Data;
using testing::difference;
using testing::parse;
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

std::string refusal_of(const Graph& graph, const Backend& backend, const CompileOptions& options) {
  const auto program = compile(graph, backend, options);
  return program.ok() ? "compiled" : program.error().message;
}

TEST(Compile, KeepsOnlyResultsInFloat32) {
  const Graph graph = parse(kBlock);
  const auto backend = make_ref_backend();
  const auto refusal = [&](const std::string& name) {
    CompileOptions options{test_machine(), {}, {}};
    options.keep = {name};
    return refusal_of(graph, *backend, options);
  };
  EXPECT_EQ(refusal("nothing"), "nothing: the model has no such op or module");
  EXPECT_EQ(refusal("x"), "x: an input of the model; only an op's result can be kept");
  EXPECT_EQ(refusal("conv.weight"),
            "conv.weight: a weight of the model; only an op's result can be kept");
  EXPECT_EQ(refusal("norm.moments"),
            "norm.moments: its values are float64; only float32 can be kept");
}

TEST(Compile, OutputsAreResultsEachOnce) {
  const auto backend = make_ref_backend();
  const std::string text = "input %x step float32[1, 4]\n%a = silu(%x)\noutput %a\n";
  EXPECT_EQ(refusal_of(parse(text + "output %x\n"), *backend, {test_machine(), {}, {}}),
            "output x: an input or a weight, not an op's result");
  EXPECT_EQ(refusal_of(parse(text + "output %a\n"), *backend, {test_machine(), {}, {}}),
            "output a: named twice");
}

TEST(Compile, PlanEntriesNameOpsOfTheLoweredGraph) {
  const Graph graph = parse(std::string(kBlock) + "%unread = silu(%x)\n");
  const auto backend = make_cpu_backend();
  const auto refusal = [&](const std::string& name, const std::string& implementation) {
    CompileOptions options{test_machine(), {}, {}};
    options.plan.entries[name].implementation = implementation;
    return refusal_of(graph, *backend, options);
  };
  EXPECT_EQ(refusal("conv", "onednn.conv"), "compiled");
  EXPECT_EQ(refusal("conv", ""), "compiled");
  EXPECT_EQ(refusal("nowhere", "onednn.conv"), "plan: the model has no op `nowhere`");
  EXPECT_EQ(refusal("time", "kernels.add_channels"),
            "plan: op time is fused into conv: name that one instead");
  EXPECT_EQ(refusal("unread", "kernels.silu"),
            "plan: no op unread is left to compute: name an op that bench --explain lists");
  EXPECT_NE(refusal("conv", "magic").find("the plan asks for `magic`, which is none of "),
            std::string::npos);
}

// Computes nothing, and says why by precision.
class Picky final : public Backend, public Implementation {
 public:
  std::string_view name() const override { return "picky"; }
  std::string description() const override { return "picky"; }
  std::span<const Implementation* const> implementations(OpKind /*kind*/) const override {
    return all_;
  }
  const CostTable& costs() const override { return costs_; }
  std::optional<std::string> refusal(const OpView& /*view*/, const Target& target) const override {
    return fmt::format("not in {}", name_of(target.precision));
  }
  Result<std::unique_ptr<Kernel>> prepare(const OpView& /*view*/,
                                          const Target& /*target*/) const override {
    return unsupported("refused before");
  }

 private:
  const Implementation* const all_[1] = {this};
  CostTable costs_{{}};
};

TEST(Compile, ImplementationsLearnThePrecision) {
  const Graph graph = parse("input %x step float32[1, 4]\n%a = silu(%x)\noutput %a\n");
  const Picky backend;
  CompileOptions options{test_machine(), {}, {}};
  for (const Precision precision : kAllPrecisions) {
    options.plan.precision = precision;
    EXPECT_EQ(refusal_of(graph, backend, options),
              fmt::format("op a (silu): no implementation here can compute it; picky: not in {}",
                          name_of(precision)));
    // An entry that leaves the choice open asks for nothing.
    options.plan.entries["a"];
  }
}

class Program1D : public ::testing::Test {
 protected:
  void SetUp() override {
    graph_ = parse("input %x step float32[1, 4]\n%a = silu(%x)\n%b = silu(%a)\noutput %b\n");
    backend_ = make_ref_backend();
    auto program = compile(graph_, *backend_, {test_machine(1), {}, {}});
    ASSERT_TRUE(program.ok()) << program.error().message;
    program_ = std::move(*program);
    Data none(graph_);
    ASSERT_TRUE(program_->load(none).ok());
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

TEST(ProgramDeathTest, RunsOnlyAfterLoad) {
  const Graph graph = parse("input %x step float32[1, 4]\n%a = silu(%x)\noutput %a\n");
  const auto program = compile(graph, *make_ref_backend(), {test_machine(), {}, {}});
  ASSERT_TRUE(program.ok()) << program.error().message;
  const auto arena = program->make_arena();
  EXPECT_DEATH((void)program->run(Rate::kStep, {}, *arena, {ThreadTeam(1), nullptr, {}}),
               "a program ran before load");
}

}  // namespace
}  // namespace mezzotint
