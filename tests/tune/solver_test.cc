// The solver against every assignment of random problems.
#include "tune/solver.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

namespace mezzotint {
namespace {

constexpr double kForbidden = std::numeric_limits<double>::infinity();

DiscreteProblem random_problem(std::mt19937& random, std::size_t variables, std::size_t factors) {
  const auto below = [&](std::size_t n) { return static_cast<std::size_t>(random() % n); };
  DiscreteProblem problem;
  for (std::size_t i = 0; i < variables; ++i) {
    problem.domains.push_back(1 + below(4));
  }
  for (std::size_t i = 0; i < factors; ++i) {
    Factor factor;
    std::size_t entries = 1;
    const std::size_t arity = 1 + below(3);
    for (std::size_t k = 0; k < arity; ++k) {
      const std::size_t variable = below(variables);
      if (std::ranges::count(factor.scope, variable) == 0) {
        factor.scope.push_back(variable);
        entries *= problem.domains[variable];
      }
    }
    for (std::size_t k = 0; k < entries; ++k) {
      // Whole numbers, so that sums are exact; negative ones too, as differences of costs are.
      factor.costs.push_back(below(12) == 0 ? kForbidden : static_cast<double>(below(100)) - 20);
    }
    problem.factors.push_back(std::move(factor));
  }
  return problem;
}

double least_by_trying_all(const DiscreteProblem& problem) {
  std::vector<std::size_t> values(problem.domains.size(), 0);
  double least = kForbidden;
  for (;;) {
    least = std::min(least, problem.cost(values));
    std::size_t variable = 0;
    while (variable < values.size() && ++values[variable] == problem.domains[variable]) {
      values[variable++] = 0;
    }
    if (variable == values.size()) {
      return least;
    }
  }
}

TEST(Solver, FindsWhatTryingAllFinds) {
  std::mt19937 random(1);
  int possible = 0;
  for (int i = 0; i < 300; ++i) {
    const DiscreteProblem problem = random_problem(random, 1 + i % 8, 1 + i % 13);
    const double truth = least_by_trying_all(problem);
    const DiscreteSolution solution = solve(problem);
    ASSERT_EQ(solution.cost, truth) << i;
    EXPECT_EQ(problem.cost(solution.values), solution.cost) << i;
    EXPECT_EQ(solution.gap(), 0) << i;
    possible += std::isfinite(truth) ? 1 : 0;
  }
  EXPECT_GT(possible, 200);
}

// Values of all but one variable, so that sets overlap and some of them are long.
void forbid_some(std::mt19937& random, DiscreteProblem& problem) {
  for (int sets = 0; sets < 3; ++sets) {
    auto& set = problem.forbidden.emplace_back();
    const std::size_t left_out = random() % problem.domains.size();
    for (std::size_t variable = 0; variable < problem.domains.size(); ++variable) {
      if (variable != left_out || problem.domains.size() == 1) {
        set.emplace_back(variable, random() % problem.domains[variable]);
      }
    }
  }
}

TEST(Solver, KeepsClearOfForbiddenSets) {
  std::mt19937 random(3);
  int possible = 0;
  for (int i = 0; i < 300; ++i) {
    DiscreteProblem problem = random_problem(random, 1 + i % 7, 1 + i % 13);
    // What would be chosen, and others.
    const DiscreteSolution unhindered = solve(problem);
    auto& best = problem.forbidden.emplace_back();
    for (std::size_t variable = 0; variable < problem.domains.size(); ++variable) {
      best.emplace_back(variable, unhindered.values[variable]);
    }
    forbid_some(random, problem);
    const double truth = least_by_trying_all(problem);
    for (const SolverOptions& options : {SolverOptions(), SolverOptions{/*most_entries=*/1}}) {
      const DiscreteSolution solution = solve(problem, options);
      ASSERT_EQ(solution.cost, truth) << i;
      EXPECT_EQ(solution.lower_bound, truth) << i;
      ASSERT_EQ(solution.values.size(), problem.domains.size()) << i;
      EXPECT_EQ(problem.cost(solution.values), truth) << i;
    }
    possible += std::isfinite(truth) ? 1 : 0;
  }
  EXPECT_GT(possible, 100);
}

// Five values, each of which is cheapest: only all of them at once are forbidden.
TEST(Solver, WithoutOneOfAForbiddenSetTheOthersMayStay) {
  constexpr std::size_t kSet = 5;
  DiscreteProblem all;
  auto& set = all.forbidden.emplace_back();
  for (std::size_t i = 0; i < kSet; ++i) {
    all.domains.push_back(4);
    all.factors.push_back({{i}, {10, 20, 1, 20}});
    set.emplace_back(i, 2);
  }
  EXPECT_EQ(solve(all).cost, 10 + (kSet - 1) * 1);
  for (unsigned members = 0; members < 1U << kSet; ++members) {
    DiscreteProblem problem = all;
    for (std::size_t i = 0; i < kSet; ++i) {
      const bool is_there = (members >> i & 1U) != 0;
      problem.factors.push_back({{i}, {0, 0, is_there ? 0 : kForbidden, 0}});
      if (is_there) {
        problem.factors.push_back({{i}, {kForbidden, kForbidden, 0, kForbidden}});
      }
    }
    EXPECT_EQ(std::isfinite(solve(problem).cost), members + 1 != 1U << kSet) << members;
    EXPECT_EQ(solve(problem).cost, least_by_trying_all(problem)) << members;
  }
}

TEST(Solver, BranchAndBoundFindsTheSame) {
  std::mt19937 random(2);
  for (int i = 0; i < 300; ++i) {
    const DiscreteProblem problem = random_problem(random, 1 + i % 8, 1 + i % 13);
    const DiscreteSolution solution = solve(problem, {/*most_entries=*/1});
    ASSERT_EQ(solution.cost, least_by_trying_all(problem)) << i;
    EXPECT_EQ(problem.cost(solution.values), solution.cost) << i;
    EXPECT_EQ(solution.gap(), 0) << i;
  }
}

TEST(Solver, StatesAGapWhereItStopsEarly) {
  std::mt19937 random(3);
  int with_gap = 0;
  for (int i = 0; i < 100; ++i) {
    const DiscreteProblem problem = random_problem(random, 8, 12);
    const double truth = least_by_trying_all(problem);
    const DiscreteSolution solution = solve(problem, {/*most_entries=*/1, /*most_nodes=*/3});
    EXPECT_GE(solution.cost, truth) << i;
    EXPECT_LE(solution.lower_bound, truth) << i;
    with_gap += solution.lower_bound < solution.cost ? 1 : 0;
  }
  EXPECT_GT(with_gap, 0);
}

// A chain with skips, as a UNet is: as wide as its depth, far from exhaustive search's reach.
TEST(Solver, ChainWithSkipsIsSolvedExactly) {
  constexpr std::size_t kVariables = 60;
  constexpr std::size_t kValues = 4;
  DiscreteProblem problem;
  problem.domains.assign(kVariables, kValues);
  std::mt19937 random(4);
  const auto join = [&](std::size_t a, std::size_t b) {
    Factor factor{{a, b}, {}};
    for (std::size_t k = 0; k < kValues * kValues; ++k) {
      factor.costs.push_back(static_cast<double>(random() % 1000));
    }
    problem.factors.push_back(std::move(factor));
  };
  for (std::size_t i = 0; i + 1 < kVariables; ++i) {
    join(i, i + 1);
  }
  for (const std::size_t skip : {0U, 6U, 12U, 18U, 24U}) {
    join(skip, kVariables - 1 - skip);
  }
  const DiscreteSolution solution = solve(problem);
  EXPECT_EQ(solution.gap(), 0);
  // No single change and no pair of neighbours' changes helps.
  for (std::size_t i = 0; i + 1 < kVariables; ++i) {
    for (std::size_t a = 0; a < kValues; ++a) {
      for (std::size_t b = 0; b < kValues; ++b) {
        std::vector<std::size_t> other = solution.values;
        other[i] = a;
        other[i + 1] = b;
        EXPECT_GE(problem.cost(other), solution.cost);
      }
    }
  }
}

TEST(Solver, SaysWhenNothingIsAllowed) {
  const DiscreteProblem problem{{2, 2},
                                {{{0}, {kForbidden, 1}}, {{0, 1}, {0, 0, kForbidden, kForbidden}}}};
  EXPECT_EQ(solve(problem).cost, kForbidden);
  EXPECT_EQ(solve(problem, {/*most_entries=*/1}).cost, kForbidden);
}

TEST(Solver, SolvesNothingAtAll) {
  EXPECT_EQ(solve({}).cost, 0);
  EXPECT_EQ(solve({{3}, {}}).values, std::vector<std::size_t>{0});
}

}  // namespace
}  // namespace mezzotint
