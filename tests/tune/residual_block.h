// A graph of six ops that leaves tune as much to choose as a network does.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <optional>
#include <random>
#include <string_view>
#include <vector>

#include "backend/cpu/cpu_backend.h"
#include "graph/text.h"
#include "runtime/compile.h"
#include "support/graph_runner.h"
#include "tune/plan_choice.h"

namespace mezzotint::testing {

// A residual block as networks have it: convolution, norm, convolution, sum.
inline constexpr std::string_view kBlock = R"(input %x step float32[1, 32, 8, 8, 8]
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

// Costs that no machine has, so that no choice is obvious; the same for the same seed.
inline void set_costs(PlanSpace& space, unsigned seed) {
  std::mt19937 random(seed);
  for (const WayId& id : space.table().unmeasured()) {
    space.table().set_timing(id, {1e-3 * static_cast<double>(1 + random() % 100), 0, 3});
  }
}

class ResidualBlockTest : public ::testing::Test {
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
    auto space = PlanSpace::explore(graph_, *backend_, options_, [](int) { return true; });
    ASSERT_TRUE(space.ok()) << space.error().message;
    space_.emplace(std::move(*space));
  }

  void set_costs(unsigned seed) { testing::set_costs(*space_, seed); }

  // Calls body(forms, ops) for each combination of forms that something computes.
  template <typename Body>
  void for_each_combination(const Body& body) {
    const std::vector<PlanVariable>& variables = space_->variables();
    std::vector<std::size_t> forms(variables.size(), 0);
    for (;;) {
      const auto ops = space_->lower_forms(forms);
      ASSERT_TRUE(ops.ok()) << ops.error().message;
      if (ops->has_value()) {
        body(forms, **ops);
      }
      std::size_t i = 0;
      while (i < forms.size() && ++forms[i] == variables[i].forms.size()) {
        forms[i++] = 0;
      }
      if (i == forms.size()) {
        return;
      }
    }
  }

  // The least of all combinations.
  double least_by_lowering_all() {
    double least = std::numeric_limits<double>::infinity();
    for_each_combination([&](const std::vector<std::size_t>& /*forms*/, const StepOps& ops) {
      least = std::min(least, space_->seconds(ops));
    });
    return least;
  }

  Graph graph_;
  std::unique_ptr<Backend> backend_;
  CompileOptions options_;
  std::optional<PlanSpace> space_;
};

}  // namespace mezzotint::testing
