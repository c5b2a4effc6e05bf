// The choice over a whole graph against every combination of forms, each lowered.
#include "tune/plan_choice.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "backend/cpu/cpu_backend.h"
#include "graph/text.h"
#include "runtime/compile.h"
#include "support/graph_runner.h"
#include "tune/decisions.h"
#include "tune/one_op.h"

namespace mezzotint {
namespace {

using testing::test_machine;

// A residual block as networks have it: convolution, norm, convolution, sum.
constexpr std::string_view kBlock = R"(input %x step float32[1, 32, 8, 8, 8]
input %gain step float32[1, 32]
parameter %a.weight [32, 32, 3, 3, 3]
parameter %a.bias [32]
parameter %n.weight [32]
parameter %n.bias [32]
parameter %b.weight [32, 32, 3, 3, 3]
parameter %b.bias [32]
%a = conv3d(%x, %a.weight, %a.bias) padding=1
%m = channel_moments(%a)
%k = group_norm_coefficients(%m, %n.weight, %n.bias) groups=8
%n = affine(%a, %k) activation="silu"
%b = conv3d(%n, %b.weight, %b.bias) padding=1
%y = add(%b, %x)
output %y
)";

bool go_on(int /*lowered*/) {
  return true;
}

class PlanChoiceTest : public ::testing::Test {
 protected:
  void SetUp() override {
    auto graph = graph_from_text(kBlock);
    ASSERT_TRUE(graph.ok()) << graph.error().message;
    graph_ = std::move(*graph);
    backend_ = make_cpu_backend();
    options_.machine = test_machine(1);
    const auto program = compile(graph_, *backend_, options_);
    ASSERT_TRUE(program.ok()) << program.error().message;
    options_.plan.entries = program->plan_entries();
    auto space = PlanSpace::explore(graph_, *backend_, options_, go_on);
    ASSERT_TRUE(space.ok()) << space.error().message;
    space_.emplace(std::move(*space));
  }

  // Costs that no machine has, so that no choice is obvious; the same for the same seed.
  void set_costs(unsigned seed) {
    std::mt19937 random(seed);
    OpTable& table = space_->table();
    for (const WayId& id : table.unmeasured()) {
      table.set_timing(id, {1e-3 * static_cast<double>(1 + random() % 100), 0, 3});
    }
  }

  // The least of all combinations.
  double least_by_lowering_all() {
    const std::vector<PlanVariable>& variables = space_->variables();
    std::vector<std::size_t> forms(variables.size(), 0);
    double least = std::numeric_limits<double>::infinity();
    for (;;) {
      const auto ops = space_->lower_forms(forms);
      EXPECT_TRUE(ops.ok());
      if (ops->has_value()) {
        least = std::min(least, space_->seconds(**ops));
      }
      std::size_t i = 0;
      while (i < forms.size() && ++forms[i] == variables[i].forms.size()) {
        forms[i++] = 0;
      }
      if (i == forms.size()) {
        return least;
      }
    }
  }

  Graph graph_;
  std::unique_ptr<Backend> backend_;
  CompileOptions options_;
  std::optional<PlanSpace> space_;
};

TEST_F(PlanChoiceTest, TheSpaceHoldsFormsOfBothConvolutions) {
  ASSERT_EQ(space_->variables().size(), 2U);
  std::size_t combinations = 1;
  for (const PlanVariable& variable : space_->variables()) {
    EXPECT_GT(variable.forms.size(), 1U) << variable.convolution;
    combinations *= variable.forms.size();
  }
  EXPECT_GE(combinations, 8U);
  EXPECT_GT(space_->table().unmeasured().size(), 10U);
}

// Found: 1, the optimum, for each of the tables.
TEST_F(PlanChoiceTest, IsAtLeast97PercentOfExhaustiveSearch) {
  for (unsigned seed = 1; seed <= 5; ++seed) {
    SetUp();
    set_costs(seed);
    ASSERT_TRUE(space_->join_forms().ok());
    set_costs(seed + 100);  // of ops that only pairs have
    const auto chosen = choose_plan(*space_, {});
    ASSERT_TRUE(chosen.ok()) << chosen.error().message;
    const double least = least_by_lowering_all();
    EXPECT_GE(least / chosen->seconds, 0.97) << seed;
    EXPECT_EQ(chosen->gap, 0) << seed;
    EXPECT_LE(chosen->seconds, default_choice(*space_).seconds) << seed;
  }
}

// What was chosen is what compile() makes of the plan.
TEST_F(PlanChoiceTest, ThePlanIsObeyed) {
  for (unsigned seed = 1; seed <= 5; ++seed) {
    SetUp();
    set_costs(seed);
    ASSERT_TRUE(space_->join_forms().ok());
    set_costs(seed + 100);
    const auto chosen = choose_plan(*space_, {});
    ASSERT_TRUE(chosen.ok()) << chosen.error().message;
    CompileOptions options = options_;
    options.plan = chosen->plan;
    const auto program = compile(graph_, *backend_, options);
    ASSERT_TRUE(program.ok()) << program.error().message;
    std::size_t found = 0;
    for (const ProgramOp& op : program->ops()) {
      const auto expected = chosen->ops.find(op.name);
      if (expected != chosen->ops.end()) {
        EXPECT_EQ(op.implementation, expected->second.implementation) << op.name;
        ++found;
      }
    }
    EXPECT_EQ(found, chosen->ops.size());
  }
}

TEST_F(PlanChoiceTest, PutBackOpsAreAsByDefault) {
  set_costs(1);
  ASSERT_TRUE(space_->join_forms().ok());
  set_costs(101);
  const PlanChoice standard = default_choice(*space_);
  const auto free = choose_plan(*space_, {});
  ASSERT_TRUE(free.ok());
  ASSERT_FALSE(decisions_of(*space_, standard, *free).empty());
  ChoiceLimits everything;
  for (const auto& op : standard.ops) {
    everything.put_back.insert(op.first);
  }
  const auto chosen = choose_plan(*space_, everything);
  ASSERT_TRUE(chosen.ok());
  EXPECT_TRUE(decisions_of(*space_, standard, *chosen).empty());
  EXPECT_EQ(chosen->plan.entries, standard.plan.entries);
  EXPECT_DOUBLE_EQ(chosen->seconds, standard.seconds);
}

// A decision's gains add up to the whole.
TEST_F(PlanChoiceTest, DecisionsExplainTheGain) {
  for (unsigned seed = 1; seed <= 5; ++seed) {
    SetUp();
    set_costs(seed);
    ASSERT_TRUE(space_->join_forms().ok());
    set_costs(seed + 100);
    const PlanChoice standard = default_choice(*space_);
    const auto chosen = choose_plan(*space_, {});
    ASSERT_TRUE(chosen.ok());
    double gain = 0;
    for (const TuneDecision& decision : decisions_of(*space_, standard, *chosen)) {
      gain += decision.gain_seconds;
    }
    EXPECT_NEAR(gain, standard.seconds - chosen->seconds, 1e-12) << seed;
  }
}

TEST(OneOp, EqualWorkHasEqualText) {
  const auto text_of = [](std::string_view prefix) {
    const std::string p(prefix);
    const auto graph = graph_from_text(
        "input %" + p + "x step float32[1, 4, 4, 4, 4]\nparameter %" + p + "w [4, 4, 1, 1, 1]\n%" +
        p + "y = conv3d(%" + p + "x, %" + p + "w)\noutput %" + p + "y\n");
    EXPECT_TRUE(graph.ok()) << graph.error().message;
    const auto alone = one_op_graph({*graph, graph->op(0)});
    EXPECT_TRUE(alone.ok());
    return to_text(*alone);
  };
  EXPECT_EQ(text_of("one."), text_of("two."));
  EXPECT_EQ(text_of("one.").find("one"), std::string::npos);
}

}  // namespace
}  // namespace mezzotint
