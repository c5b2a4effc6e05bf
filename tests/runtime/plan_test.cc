// A plan is obeyed, or refused with the reason; and what a program did is a plan that does it
// again.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "backend/cpu/cpu_backend.h"
#include "graph/conv_region.h"
#include "runtime/layouts.h"
#include "runtime/lower.h"
#include "runtime/program_data.h"
#include "support/graph_runner.h"
#include "support/tolerance.h"

namespace mezzotint::testing {
namespace {

constexpr Layout kFirst = Layout::kRowMajor;
constexpr Layout kLast = Layout::kChannelsLast;

// A block of a decoder: a skip, two norms, a time vector, a doubling; every op that convolutions
// may take.
constexpr std::string_view kBlock = R"(input %x step float32[1, 16, 4, 6, 2]
input %v step float32[1, 32]
parameter %gamma [16]
parameter %gamma32 [32]
parameter %up.weight [16, 16, 3, 3, 3]
parameter %up.bias [16]
parameter %conv.weight [32, 32, 3, 3, 3]
parameter %conv.bias [32]
parameter %skip.weight [32, 32, 1, 1, 1]
parameter %out.weight [3, 32, 3, 3, 3]
%x.moments = channel_moments(%x)
%x.norm = group_norm_coefficients(%x.moments, %gamma, %gamma) eps=1e-05 groups=4
%h = affine(%x, %x.norm) activation="silu"
%up = upsample_trilinear(%h)
%upx = upsample_trilinear(%x)
%conv.up = conv3d(%up, %up.weight, %up.bias) padding=1
%cat = concat(%conv.up, %upx)
%skip = conv3d(%cat, %skip.weight)
%cat.moments = channel_moments(%cat)
%cat.norm = group_norm_coefficients(%cat.moments, %gamma32, %gamma32) eps=1e-05 groups=8
%n = affine(%cat, %cat.norm) activation="silu"
%conv = conv3d(%n, %conv.weight, %conv.bias) padding=1
%time = add_channels(%conv, %v)
%sum = add(%skip, %time)
%sum.moments = channel_moments(%sum)
%sum.norm = group_norm_coefficients(%sum.moments, %gamma32, %gamma32) eps=1e-05 groups=8
%y = affine(%sum, %sum.norm) activation="silu"
%out = conv3d(%y, %out.weight) padding=1
output %out
)";

class PlanTest : public ::testing::Test {
 protected:
  Result<Program> compiled(const Plan& plan) const {
    return compile(graph_, *backend_, {test_machine(), plan, {}});
  }
  std::string refusal(const std::string& op, PlanEntry entry) const {
    Plan plan;
    plan.entries[op] = std::move(entry);
    const auto program = compiled(plan);
    return program.ok() ? "compiled" : program.error().message;
  }
  Graph lowered(const Plan& plan) const {
    auto made = lower(graph_, *backend_, {test_machine(), plan, {}});
    EXPECT_TRUE(made.ok()) << made.error().message;
    return std::move(made->graph);
  }
  std::vector<float> run(Program& program) { return run_guarded(program, graph_, data_); }
  // Ops with activations, as they run by default.
  std::vector<std::string> ops_with_layouts() const {
    std::vector<std::string> names;
    const Graph graph = lowered({});
    for (const Op& op : graph.ops()) {
      if (activation_layout({graph, op})) {
        names.push_back(op.name);
      }
    }
    return names;
  }
  // The same program from what it says it is, and the same bytes; the results are the law's.
  void expect_obeyed(const Plan& plan) {
    auto program = compiled(plan);
    ASSERT_TRUE(program.ok()) << program.error().message;
    Plan again = plan;
    again.entries = program->plan_entries();
    auto repeated = compiled(again);
    ASSERT_TRUE(repeated.ok()) << repeated.error().message;
    EXPECT_EQ(to_text(repeated->graph()), to_text(program->graph()));
    EXPECT_EQ(repeated->plan_entries(), again.entries);
    const std::vector<float> made = run(*program);
    EXPECT_EQ(run(*repeated), made);
    EXPECT_LT(difference(made, truth_).relative_l2, 1e-5);  // docs/precision.md
  }

  const Graph graph_ = parse(kBlock);
  const std::unique_ptr<Backend> backend_ = make_cpu_backend();
  Data data_{graph_};
  const std::vector<double> truth_ = data_.truth(graph_, "out");
};

TEST_F(PlanTest, AProgramSaysWhatItIs) {
  expect_obeyed({});
  expect_obeyed({Precision::kStrict, kLast, {}});
  expect_obeyed({Precision::kFp32, kFirst, {}});
}

// What a convolution could take, in any combination that it can be computed with.
TEST_F(PlanTest, FusionsAreObeyedOrRefused) {
  constexpr Fusion kChoices[] = {Fusion::kConcat, Fusion::kNormalise, Fusion::kTimeVector,
                                 Fusion::kResidual, Fusion::kMoments};
  int obeyed = 0;
  for (unsigned choice = 0; choice < 1U << std::size(kChoices); ++choice) {
    Fusions fusions;
    for (std::size_t i = 0; i < std::size(kChoices); ++i) {
      if ((choice >> i & 1U) != 0) {
        fusions.insert(kChoices[i]);
      }
    }
    SCOPED_TRACE(describe(fusions));
    Plan plan;
    plan.entries["conv"].fuse = fusions;
    const auto program = compiled(plan);
    if (!program.ok()) {
      EXPECT_TRUE(program.error().message.starts_with("plan: op conv cannot"))
          << program.error().message;
      continue;
    }
    ++obeyed;
    EXPECT_EQ(program->plan_entries().at("conv").fuse, fusions);
    expect_obeyed(plan);
  }
  // A norm stands behind the concatenation, the residual behind the time vector, and moments are of
  // the sum: 3 choices on load, 4 in the epilogue.
  EXPECT_EQ(obeyed, 12);
}

TEST_F(PlanTest, SaysWhyAFusionIsNotToBeHad) {
  EXPECT_EQ(refusal("conv", {"", std::nullopt, Fusions{Fusion::kUpsample}}),
            "plan: op conv cannot fuse upsample: nothing like it is beside it");
  EXPECT_EQ(refusal("conv", {"", std::nullopt, Fusions{Fusion::kNormalise}}),
            "plan: op conv cannot fuse normalise: op n.0: a concatenation that stays reads it");
  EXPECT_EQ(refusal("sum.norm", {"", std::nullopt, Fusions{}}),
            "plan: op sum.norm (group_norm_coefficients) is no convolution: nothing can be fused "
            "into it");
  const std::string unknown = refusal("conv", {"bogus", std::nullopt, Fusions{Fusion::kResidual}});
  EXPECT_TRUE(unknown.starts_with("plan: op conv (")) << unknown;
  EXPECT_NE(unknown.find("the plan asks for `bogus`, which is none of "), std::string::npos)
      << unknown;
  const std::string refused =
      refusal("out", {"kernels.conv_few_outputs", std::nullopt, Fusions{Fusion::kNormalise}});
  EXPECT_TRUE(
      refused.starts_with("plan: op out cannot be computed with normalise fused; "
                          "kernels.conv_few_outputs: "))
      << refused;
}

TEST_F(PlanTest, SaysWhatHasNoLayout) {
  EXPECT_EQ(refusal("sum.norm", {"", kFirst}),
            "plan: op sum.norm (group_norm_coefficients) has no layout to choose");
  EXPECT_EQ(refusal("nowhere", {"", kFirst}), "plan: the model has no op `nowhere`");
}

// Convolutions are computed channels-last, between reorders, and take nothing with them; all else
// is row-major. Each value is reordered once.
TEST_F(PlanTest, ChannelsFirstConvertsAroundConvolutions) {
  const Graph graph = lowered({Precision::kFp32, kFirst, {}});
  std::map<std::string, int> reorders;
  for (const Op& op : graph.ops()) {
    const OpView view{graph, op};
    EXPECT_NE(op.kind, OpKind::region) << op.name;
    if (op.kind == OpKind::reorder) {
      ++reorders[view.input(0).name];
    } else if (const auto layout = activation_layout(view)) {
      EXPECT_EQ(*layout, op.kind == OpKind::conv3d ? kLast : kFirst) << op.name;
    }
  }
  // Into conv.up, skip, conv and out; out of conv.up, skip, conv and, the output, out.
  const std::map<std::string, int> expected{{"up", 1},      {"cat", 1},  {"n", 1},    {"y", 1},
                                            {"conv.up", 1}, {"skip", 1}, {"conv", 1}, {"out", 1}};
  EXPECT_EQ(reorders, expected);
}

// One op apart from the others, and each third from the rest.
TEST_F(PlanTest, AnyMixtureOfLayoutsIsRight) {
  const std::vector<std::string> ops = ops_with_layouts();
  ASSERT_GT(ops.size(), 6u);
  for (const std::string& op : ops) {
    SCOPED_TRACE(op);
    Plan plan;
    plan.entries[op].layout = kFirst;
    expect_obeyed(plan);
  }
  for (std::size_t part = 0; part < 3; ++part) {
    for (const Layout layout : {kFirst, kLast}) {
      SCOPED_TRACE(fmt::format("{} {}", part, name_of(layout)));
      Plan plan;
      plan.layout = layout;
      for (std::size_t i = part; i < ops.size(); i += 3) {
        plan.entries[ops[i]].layout = layout == kFirst ? kLast : kFirst;
      }
      expect_obeyed(plan);
    }
  }
}

// In a plan for channels first, a convolution that is to fuse a norm needs it channels-last.
TEST_F(PlanTest, FusedOpsHaveALayoutOfTheirOwn) {
  Plan plan;
  plan.layout = kFirst;
  plan.entries["conv.up"] = {"", kLast, Fusions{Fusion::kUpsample}};
  plan.entries["up"].layout = kLast;
  const auto program = compiled(plan);
  ASSERT_TRUE(program.ok()) << program.error().message;
  const auto entries = program->plan_entries();
  EXPECT_EQ(entries.at("up"), (PlanEntry{"", kLast}));
  EXPECT_EQ(entries.at("conv.up").fuse, Fusions{Fusion::kUpsample});
  expect_obeyed(plan);
}

}  // namespace
}  // namespace mezzotint::testing
