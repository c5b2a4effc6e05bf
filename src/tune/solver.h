// The cheapest assignment of a sum of small tables: variables with finite domains, factors over a
// few of them each. Knows nothing of plans.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace mezzotint {

// A term of the sum. The last variable of the scope varies fastest in the table; infinity forbids.
struct Factor {
  std::vector<std::size_t> scope;  // distinct variables
  std::vector<double> costs;       // one per combination: the product of the domains
};

struct DiscreteProblem {
  std::vector<std::size_t> domains;  // number of values of each variable, at least 1
  std::vector<Factor> factors;
  // Sets of (variable, value), at least one in each and each of another variable, that may not be
  // there all at once; without one of them the others may. As a factor, a set would take a table
  // over whole domains; of this, any number costs little.
  std::vector<std::vector<std::pair<std::size_t, std::size_t>>> forbidden = {};

  // Infinity: forbidden.
  [[nodiscard]] double cost(const std::vector<std::size_t>& values) const;
};

struct SolverOptions {
  // Of the largest table that eliminating may build, in entries; where it would be larger, branch
  // and bound takes over.
  std::uint64_t most_entries = std::uint64_t{1} << 22;
  // Of branch and bound.
  std::uint64_t most_nodes = 2'000'000;
};

struct DiscreteSolution {
  std::vector<std::size_t> values;  // one per variable
  double cost = 0;                  // infinity: nothing is allowed
  double lower_bound = 0;           // no assignment costs less; equal to `cost` when proved

  // (cost - lower_bound) / cost: 0 when this is the optimum.
  [[nodiscard]] double gap() const;
};

// Bucket elimination (Dechter, "Bucket elimination: a unifying framework for reasoning", Artificial
// Intelligence 113, 1999): variables go one by one, those that make the smallest table first. Its
// time and memory are those of the largest table. Else depth-first branch and bound, whose bound is
// the sum of each factor's least entry that the values so far allow; when it runs out of nodes the
// best found comes with that bound at the root. For elimination a forbidden set becomes a chain of
// binary variables, which no solution shows. The result depends on nothing but the arguments.
[[nodiscard]] DiscreteSolution solve(const DiscreteProblem& problem,
                                     const SolverOptions& options = {});

}  // namespace mezzotint
