// The choice over a whole graph against every combination of forms, each lowered.
#include "tune/plan_choice.h"

#include <gtest/gtest.h>

#include <chrono>

#include "graph/text.h"
#include "runtime/program_data.h"
#include "tune/decisions.h"
#include "tune/measuring.h"
#include "tune/one_op.h"
#include "tune/residual_block.h"
#include "tune/temporary_cache.h"

namespace mezzotint {
namespace {

class PlanChoiceTest : public testing::ResidualBlockTest {
 protected:
  // One evaluation with these forms, each op computed by its fastest way.
  double evaluation_seconds(const std::vector<std::size_t>& forms, const StepOps& ops) {
    CompileOptions options = options_;
    std::erase_if(options.plan.entries, [&](const auto& entry) {
      return space_->default_ops().contains(entry.first) && !ops.contains(entry.first);
    });
    for (const auto& [name, id] : ops) {
      options.plan.entries[name].implementation = space_->table().fastest(id)->name();
    }
    for (std::size_t i = 0; i < forms.size(); ++i) {
      const PlanVariable& variable = space_->variables()[i];
      PlanEntry& entry = options.plan.entries[variable.convolution];
      entry.layout = variable.forms[forms[i]].layout;
      entry.fuse = variable.forms[forms[i]].fuse;
    }
    auto program = compile(graph_, *backend_, options);
    if (!program) {
      ADD_FAILURE() << program.error().message;
      return 0;
    }
    testing::Data data(graph_);
    EXPECT_TRUE(program->load(data).ok());
    const auto arena = program->make_arena();
    const Value& output = graph_.value(graph_.outputs()[0]);
    std::vector<float> out(static_cast<std::size_t>(output.type.shape.elements()));
    std::vector<Binding> bindings{testing::bind_output(output.name, out)};
    for (const ValueId id : graph_.inputs()) {
      bindings.push_back(data.bind(graph_.value(id).name));
    }
    const ThreadTeam team(1);
    EXPECT_TRUE(program->run(Rate::kVolume, bindings, *arena, {team, nullptr, {}}).ok());
    const auto start = std::chrono::steady_clock::now();
    EXPECT_TRUE(program->run(Rate::kStep, bindings, *arena, {team, nullptr, {}}).ok());
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  }
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

// Every combination runs once, on this machine, too; how long each took is only told: it is the
// sums of the same timings that no other load can turn around.
TEST_F(PlanChoiceTest, IsAtLeast97PercentOfExhaustiveSearchAsMeasured) {
  testing::TemporaryCache cache(*backend_, options_.machine);
  const ThreadTeam team(1);
  const auto stopwatch = Stopwatch::create(options_.target(), team);
  ASSERT_TRUE(stopwatch.ok());
  MeasuringOptions measuring;
  measuring.force = true;  // tests run beside others
  measuring.stopwatch.repetitions = 0;
  measuring.stopwatch.enough_seconds = 0;
  MeasuringCounts counts;
  const auto measure = [&] {
    return measure_ways(
        space_->table(), space_->rivals(), *cache, *stopwatch, measuring,
        [](int, int) { return true; }, nullptr, counts);
  };
  ASSERT_TRUE(measure().ok());
  ASSERT_TRUE(space_->join_forms().ok());
  ASSERT_TRUE(measure().ok());
  ASSERT_TRUE(space_->table().unmeasured().empty());
  const auto chosen = choose_plan(*space_, {});
  ASSERT_TRUE(chosen.ok()) << chosen.error().message;
  EXPECT_GE(least_by_lowering_all() / chosen->seconds, 0.97);

  double least = std::numeric_limits<double>::infinity();
  double of_choice = 0;
  int combinations = 0;
  for_each_combination([&](const std::vector<std::size_t>& forms, const StepOps& ops) {
    const double seconds = evaluation_seconds(forms, ops);
    least = std::min(least, seconds);
    of_choice = forms == chosen->forms ? seconds : of_choice;
    ++combinations;
  });
  ASSERT_GT(of_choice, 0);
  RecordProperty("combinations", combinations);
  RecordProperty("fastest_microseconds", static_cast<int>(1e6 * least));
  RecordProperty("chosen_microseconds", static_cast<int>(1e6 * of_choice));
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
