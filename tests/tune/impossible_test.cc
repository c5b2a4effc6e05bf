// Forms that cannot be had together: the choice goes on without them.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tune/any_layout_backend.h"
#include "tune/decisions.h"
#include "tune/residual_block.h"

namespace mezzotint {
namespace {

// What a decoder does. A convolution in row-major order between channels-last ones can take the
// reorder of its source; where the source is in row-major order as well, there is none to take.
constexpr std::string_view kConcat = R"(input %x step float32[1, 32, 8, 8, 8]
parameter %a.weight [32, 32, 3, 3, 3]
parameter %b.weight [32, 32, 3, 3, 3]
parameter %c.weight [32, 64, 3, 3, 3]
%a = conv3d(%x, %a.weight) padding=1
%b = conv3d(%a, %b.weight) padding=1
%j = concat(%a, %b)
%c = conv3d(%j, %c.weight) padding=1
output %c
)";

class ImpossibleForms : public ::testing::Test {
 protected:
  void SetUp() override {
    set_up(kConcat);
    ASSERT_EQ(space_->variables().size(), 3U);
  }

  void set_up(std::string_view text) {
    auto graph = graph_from_text(text);
    ASSERT_TRUE(graph.ok()) << graph.error().message;
    graph_ = std::move(*graph);
    options_ = {};
    options_.machine = testing::test_machine(1);
    const auto program = compile(graph_, *make_cpu_backend(), options_);
    ASSERT_TRUE(program.ok()) << program.error().message;
    options_.plan.entries = program->plan_entries();
    auto space = PlanSpace::explore(graph_, backend_, options_, [](int) { return true; });
    ASSERT_TRUE(space.ok()) << space.error().message;
    space_.emplace(std::move(*space));
  }

  bool can(std::size_t a, std::size_t b, std::size_t c) {
    const auto ops = space_->lower_forms({a, b, c});
    EXPECT_TRUE(ops.ok()) << ops.error().message;
    return ops.ok() && ops->has_value();
  }

  // Forms of the first two convolutions that cannot be had together, though each by itself can.
  std::pair<std::size_t, std::size_t> impossible_pair() {
    const std::vector<PlanVariable>& variables = space_->variables();
    for (std::size_t a = 1; a < variables[0].forms.size(); ++a) {
      for (std::size_t b = 1; b < variables[1].forms.size(); ++b) {
        if (!can(a, b, 0) && can(a, 0, 0) && can(0, b, 0)) {
          return {a, b};
        }
      }
    }
    return {0, 0};
  }

  Graph graph_;
  testing::AnyLayoutBackend backend_;
  CompileOptions options_;
  std::optional<PlanSpace> space_;
};

TEST_F(ImpossibleForms, WhatIsForbiddenIsNoMoreThanWhatCannotBe) {
  const auto [a, b] = impossible_pair();
  ASSERT_NE(a, 0U);
  ASSERT_TRUE(space_->forbid({a, b, 1}).ok());
  ASSERT_EQ(space_->impossible().size(), 1U);
  EXPECT_EQ(space_->impossible()[0], (std::vector<VariableForm>{{0, a}, {1, b}}));
  const std::vector<std::string> texts = describe_impossible(*space_);
  ASSERT_EQ(texts.size(), 1U);
  for (const char* part : {"a (fuses ", ", b (fuses ", "channels-first"}) {
    EXPECT_NE(texts[0].find(part), std::string::npos) << texts[0];
  }
}

// Without join_forms(), nothing says beforehand what cannot be had together.
TEST_F(ImpossibleForms, TheChoiceIsMadeAgainWithoutThem) {
  int met = 0;
  for (unsigned seed = 1; seed <= 20; ++seed) {
    SetUp();
    testing::set_costs(*space_, seed);
    const auto chosen = choose_plan(*space_, {});
    ASSERT_TRUE(chosen.ok()) << chosen.error().message;
    EXPECT_TRUE(can(chosen->forms[0], chosen->forms[1], chosen->forms[2])) << seed;
    const std::size_t impossible = space_->impossible().size();
    met += impossible > 0 && chosen->forms != std::vector<std::size_t>(3, 0) ? 1 : 0;
    // The space knows them from now on.
    const auto again = choose_plan(*space_, {});
    ASSERT_TRUE(again.ok());
    EXPECT_EQ(again->forms, chosen->forms) << seed;
    EXPECT_EQ(space_->impossible().size(), impossible) << seed;
  }
  EXPECT_GT(met, 0);
}

// Nothing here keeps five convolutions beside each other from being in row-major order; the space
// is told so.
TEST_F(ImpossibleForms, FiveAreForbiddenOnlyAllTogether) {
  constexpr std::size_t kSources = 5;
  std::string text = "input %x step float32[1, 32, 8, 8, 8]\n";
  std::string ops;
  std::string names;
  for (std::size_t i = 0; i < kSources; ++i) {
    text += fmt::format("parameter %s{}.weight [32, 32, 3, 3, 3]\n", i);
    ops += fmt::format("%s{0} = conv3d(%x, %s{0}.weight) padding=1\n", i);
    names += fmt::format("{}%s{}", i == 0 ? "" : ", ", i);
  }
  set_up(
      fmt::format("{}parameter %c.weight [32, 160, 3, 3, 3]\n{}%j = concat({})\n"
                  "%c = conv3d(%j, %c.weight) padding=1\noutput %c\n",
                  text, ops, names));
  const std::vector<PlanVariable>& variables = space_->variables();
  ASSERT_EQ(variables.size(), kSources + 1);
  ASSERT_EQ(variables[0].convolution, "c");
  // All sources are the same op, which is faster in row-major order, with its conversions.
  const auto cost_all = [&] {
    for (const WayId& id : space_->table().unmeasured()) {
      space_->table().set_timing(id, {1e-2, 0, 3});
    }
  };
  cost_all();
  const Form fast = variables[1].forms[1];
  ASSERT_EQ(fast.layout, Layout::kRowMajor);
  std::vector<std::size_t> fast_ops = fast.added;
  fast_ops.push_back(fast.ops.at("s0"));
  for (const std::size_t op : fast_ops) {
    for (std::size_t way = 0; way < space_->table().op(op).ways.size(); ++way) {
      space_->table().set_timing({op, way}, {1e-3, 0, 3});
    }
  }
  ASSERT_TRUE(space_->join_forms().ok());
  cost_all();

  const auto fast_sources = [&](const ChoiceLimits& limits) {
    const auto chosen = choose_plan(*space_, limits);
    EXPECT_TRUE(chosen.ok()) << chosen.error().message;
    EXPECT_EQ(chosen->gap, 0);
    EXPECT_EQ(chosen->forms.size(), kSources + 1);
    return std::count(chosen->forms.begin() + 1, chosen->forms.end(), 1U);
  };
  ChoiceLimits limits;
  limits.put_back = {"c"};
  EXPECT_EQ(fast_sources(limits), kSources);
  ASSERT_TRUE(space_->forbid({0, 1, 1, 1, 1, 1}).ok());
  ASSERT_EQ(space_->impossible().size(), 1U);
  EXPECT_EQ(space_->impossible()[0].size(), kSources);
  EXPECT_EQ(fast_sources(limits), kSources - 1);
  for (std::size_t i = 0; i < kSources; ++i) {
    limits.put_back = {"c", fmt::format("s{}", i)};
    EXPECT_EQ(fast_sources(limits), kSources - 1) << i;
  }
}

}  // namespace
}  // namespace mezzotint
