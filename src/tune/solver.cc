#include "tune/solver.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>
#include <set>

#include "base/check.h"

namespace mezzotint {
namespace {

using Values = std::vector<std::size_t>;
constexpr double kForbidden = std::numeric_limits<double>::infinity();

std::size_t entry_of(const Factor& factor, const Values& domains, const Values& values) {
  std::size_t entry = 0;
  for (const std::size_t variable : factor.scope) {
    entry = entry * domains[variable] + values[variable];
  }
  return entry;
}

// Calls body() for each combination of the scope's values, in the order of a factor's table.
template <typename Body>
void for_each_combination(const Values& scope, const Values& domains, Values& values,
                          const Body& body) {
  for (const std::size_t variable : scope) {
    values[variable] = 0;
  }
  for (;;) {
    body();
    std::size_t position = scope.size();
    for (;;) {
      if (position == 0) {
        return;
      }
      const std::size_t variable = scope[--position];
      if (++values[variable] < domains[variable]) {
        break;
      }
      values[variable] = 0;
    }
  }
}

// Entries of a table over `scope`; nothing above `most`.
std::optional<std::uint64_t> table_entries(const std::set<std::size_t>& scope,
                                           const Values& domains, std::uint64_t most) {
  std::uint64_t entries = 1;
  for (const std::size_t variable : scope) {
    if (domains[variable] > most / entries) {
      return std::nullopt;
    }
    entries *= domains[variable];
  }
  return entries;
}

// Of a problem without forbidden sets.
class Elimination {
 public:
  Elimination(const DiscreteProblem& problem, std::uint64_t most_entries)
      : domains_(problem.domains), factors_(problem.factors), most_entries_(most_entries) {}

  // Nothing when a table would be too large.
  std::optional<Values> run() {
    std::set<std::size_t> left;
    for (std::size_t variable = 0; variable < domains_.size(); ++variable) {
      left.insert(variable);
    }
    while (!left.empty()) {
      const auto next = cheapest(left);
      if (!next) {
        return std::nullopt;
      }
      eliminate(*next);
      left.erase(*next);
    }
    Values values(domains_.size(), 0);
    for (auto step = steps_.rbegin(); step != steps_.rend(); ++step) {
      values[step->variable] = step->best[entry_of({step->scope, {}}, domains_, values)];
    }
    return values;
  }

 private:
  // A variable that is gone, and its best value for each combination of those it met.
  struct Step {
    std::size_t variable = 0;
    Values scope;
    std::vector<std::size_t> best;
  };

  [[nodiscard]] std::set<std::size_t> neighbours(std::size_t variable) const {
    std::set<std::size_t> met;
    for (const Factor& factor : factors_) {
      if (std::ranges::count(factor.scope, variable) != 0) {
        met.insert(factor.scope.begin(), factor.scope.end());
      }
    }
    met.erase(variable);
    return met;
  }

  [[nodiscard]] std::optional<std::size_t> cheapest(const std::set<std::size_t>& left) const {
    std::optional<std::size_t> best;
    std::uint64_t least = 0;
    for (const std::size_t variable : left) {
      std::set<std::size_t> scope = neighbours(variable);
      scope.insert(variable);
      const auto entries = table_entries(scope, domains_, most_entries_);
      if (entries && (!best || *entries < least)) {
        best = variable;
        least = *entries;
      }
    }
    return best;
  }

  void eliminate(std::size_t variable) {
    const auto first_met = std::stable_partition(
        factors_.begin(), factors_.end(),
        [&](const Factor& factor) { return std::ranges::count(factor.scope, variable) == 0; });
    const std::set<std::size_t> met = neighbours(variable);
    Step step{variable, {met.begin(), met.end()}, {}};
    Factor message{step.scope, {}};
    Values values(domains_.size(), 0);
    for_each_combination(step.scope, domains_, values, [&] {
      double least = kForbidden;
      std::size_t best = 0;
      for (std::size_t value = 0; value < domains_[variable]; ++value) {
        values[variable] = value;
        double cost = 0;
        for (auto factor = first_met; factor != factors_.end(); ++factor) {
          cost += factor->costs[entry_of(*factor, domains_, values)];
        }
        if (cost < least) {
          least = cost;
          best = value;
        }
      }
      message.costs.push_back(least);
      step.best.push_back(best);
    });
    factors_.erase(first_met, factors_.end());
    factors_.push_back(std::move(message));
    steps_.push_back(std::move(step));
  }

  const Values& domains_;
  std::vector<Factor> factors_;
  std::uint64_t most_entries_;
  std::vector<Step> steps_;
};

class BranchAndBound {
 public:
  BranchAndBound(const DiscreteProblem& problem, std::uint64_t most_nodes)
      : problem_(problem), most_nodes_(most_nodes), values_(problem.domains.size(), 0) {}

  DiscreteSolution run() {
    best_ = descend(values_);
    best_cost_ = problem_.cost(best_);
    std::vector<double> least;
    for (const Factor& factor : problem_.factors) {
      least.push_back(*std::ranges::min_element(factor.costs));
    }
    const double root = std::accumulate(least.begin(), least.end(), 0.0);
    branch(0, least);
    return {best_, best_cost_, nodes_ <= most_nodes_ ? best_cost_ : std::min(root, best_cost_)};
  }

 private:
  // Changes one variable at a time for as long as that helps: something to start from.
  Values descend(Values values) const {
    double cost = problem_.cost(values);
    for (bool better = true; better;) {
      better = false;
      for (std::size_t variable = 0; variable < values.size(); ++variable) {
        for (std::size_t value = 0; value < problem_.domains[variable]; ++value) {
          Values other = values;
          other[variable] = value;
          if (const double changed = problem_.cost(other); changed < cost) {
            values = std::move(other);
            cost = changed;
            better = true;
          }
        }
      }
    }
    return values;
  }

  // Variables below `variable` have values; `least` is each factor's least entry under them.
  void branch(std::size_t variable, const std::vector<double>& least) {
    if (++nodes_ > most_nodes_ || std::accumulate(least.begin(), least.end(), 0.0) >= best_cost_) {
      return;
    }
    if (variable == values_.size()) {
      best_ = values_;
      best_cost_ = problem_.cost(values_);
      return;
    }
    for (std::size_t value = 0; value < problem_.domains[variable]; ++value) {
      values_[variable] = value;
      if (is_forbidden(variable)) {
        continue;
      }
      std::vector<double> tighter = least;
      for (std::size_t i = 0; i < tighter.size(); ++i) {
        if (std::ranges::count(problem_.factors[i].scope, variable) != 0) {
          tighter[i] = least_entry(problem_.factors[i], variable);
        }
      }
      branch(variable + 1, tighter);
    }
    values_[variable] = 0;
  }

  // Whether a forbidden set is there among the variables that have values.
  [[nodiscard]] bool is_forbidden(std::size_t last_fixed) const {
    return std::ranges::any_of(problem_.forbidden, [&](const auto& set) {
      return std::ranges::all_of(set, [&](const auto& member) {
        return member.first <= last_fixed && values_[member.first] == member.second;
      });
    });
  }

  [[nodiscard]] double least_entry(const Factor& factor, std::size_t last_fixed) const {
    Values open;
    std::ranges::copy_if(factor.scope, std::back_inserter(open),
                         [&](std::size_t variable) { return variable > last_fixed; });
    Values values = values_;
    double least = kForbidden;
    for_each_combination(open, problem_.domains, values, [&] {
      least = std::min(least, factor.costs[entry_of(factor, problem_.domains, values)]);
    });
    return least;
  }

  const DiscreteProblem& problem_;
  std::uint64_t most_nodes_;
  std::uint64_t nodes_ = 0;
  Values values_;
  Values best_;
  double best_cost_ = kForbidden;
};

// z_i stands for the first i + 1 members of the set being there. It has to be 1 where z_(i-1) is
// and the member is there; that it may be 1 elsewhere forbids nothing, since the cheapest
// assignment has it 0 if that helps. The last member may not follow on a 1.
void add_chain(const std::vector<std::pair<std::size_t, std::size_t>>& set,
               DiscreteProblem& problem) {
  std::optional<std::size_t> before;  // z_(i-1)
  for (std::size_t i = 0; i < set.size(); ++i) {
    const auto [variable, value] = set[i];
    Factor link;
    std::size_t rows = 1;
    if (before) {
      link.scope.push_back(*before);
      rows = 2;
    }
    link.scope.push_back(variable);
    std::size_t columns = problem.domains[variable];
    std::size_t forbidden = (rows - 1) * columns + value;
    if (i + 1 < set.size()) {
      before = problem.domains.size();
      problem.domains.push_back(2);
      link.scope.push_back(*before);
      columns *= 2;
      forbidden *= 2;
    }
    link.costs.assign(rows * columns, 0.0);
    link.costs[forbidden] = kForbidden;
    problem.factors.push_back(std::move(link));
  }
}

void check_problem(const DiscreteProblem& problem) {
  for (const Factor& factor : problem.factors) {
    std::size_t entries = 1;
    for (const std::size_t variable : factor.scope) {
      entries *= problem.domains.at(variable);
    }
    check(factor.costs.size() == entries, "a factor's table does not fit its scope");
  }
  for (const auto& set : problem.forbidden) {
    check(!set.empty(), "a forbidden set is empty");
    for (const auto& [variable, value] : set) {
      check(value < problem.domains.at(variable), "a forbidden value is not in its domain");
    }
  }
}

}  // namespace

double DiscreteProblem::cost(const std::vector<std::size_t>& values) const {
  double total = 0;
  for (const Factor& factor : factors) {
    total += factor.costs[entry_of(factor, domains, values)];
  }
  const auto is_there = [&](const auto& member) { return values[member.first] == member.second; };
  for (const auto& set : forbidden) {
    total += std::ranges::all_of(set, is_there) ? kForbidden : 0;
  }
  return total;
}

double DiscreteSolution::gap() const {
  return cost > lower_bound && std::isfinite(cost) ? (cost - lower_bound) / cost : 0;
}

DiscreteSolution solve(const DiscreteProblem& problem, const SolverOptions& options) {
  check_problem(problem);
  DiscreteProblem chained{problem.domains, problem.factors};
  for (const auto& set : problem.forbidden) {
    add_chain(set, chained);
  }
  if (auto values = Elimination(chained, options.most_entries).run()) {
    values->resize(problem.domains.size());
    const double cost = problem.cost(*values);
    return {std::move(*values), cost, cost};
  }
  return BranchAndBound(problem, options.most_nodes).run();
}

}  // namespace mezzotint
