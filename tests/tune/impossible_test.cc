// Forms that cannot be had together: the choice goes on without them.
#include <gtest/gtest.h>

#include <utility>

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
    auto graph = graph_from_text(kConcat);
    ASSERT_TRUE(graph.ok()) << graph.error().message;
    graph_ = std::move(*graph);
    options_.machine = testing::test_machine(1);
    const auto program = compile(graph_, *make_cpu_backend(), options_);
    ASSERT_TRUE(program.ok()) << program.error().message;
    options_.plan.entries = program->plan_entries();
    auto space = PlanSpace::explore(graph_, backend_, options_, [](int) { return true; });
    ASSERT_TRUE(space.ok()) << space.error().message;
    space_.emplace(std::move(*space));
    ASSERT_EQ(space_->variables().size(), 3U);
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

}  // namespace
}  // namespace mezzotint
