#include "tune/plan_choice.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "base/check.h"
#include "tune/solver.h"

namespace mezzotint {
namespace {

constexpr double kForbidden = std::numeric_limits<double>::infinity();
constexpr int kMostSolutions = 16;

class Chooser {
 public:
  Chooser(PlanSpace& space, const ChoiceLimits& limits) : space_(space), limits_(limits) {}

  Result<PlanChoice> run() {
    const std::vector<std::size_t> standard(space_.variables().size(), 0);
    const PlanChoice fallback = choice(standard, space_.default_ops());
    double lower_bound = 0;
    for (int i = 0; i < kMostSolutions; ++i) {
      const DiscreteSolution solution = solve(problem());
      lower_bound = solution.lower_bound;
      auto ops = space_.lower_forms(solution.values);
      if (!ops) {
        return ops.error();
      }
      if (ops->has_value()) {
        const PlanChoice chosen = choice(solution.values, **ops);
        return with_gap(chosen.seconds <= fallback.seconds ? chosen : fallback, lower_bound);
      }
      if (Status status = space_.forbid(solution.values); !status) {
        return status.error();
      }
    }
    return with_gap(fallback, lower_bound);
  }

  [[nodiscard]] PlanChoice choice(const std::vector<std::size_t>& forms, const StepOps& ops) const {
    const Plan& standard = space_.default_plan();
    PlanChoice made;
    made.forms = forms;
    made.plan.precision = standard.precision;
    made.plan.layout = standard.layout;
    for (const auto& [name, entry] : standard.entries) {
      if (!space_.default_ops().contains(name)) {
        made.plan.entries[name] = entry;  // not of a step: it stays
      }
    }
    for (const auto& [name, id] : ops) {
      const Way& way = way_of(name, id);
      made.ops[name] = {id, way.name(), space_.table().seconds(way), way.error_growth,
                        way.timing.has_value()};
      made.seconds += made.ops[name].seconds;
      PlanEntry& entry = made.plan.entries[name];
      if (const auto found = standard.entries.find(name); found != standard.entries.end()) {
        entry = found->second;
      }
      entry.implementation = way.name();
    }
    for (std::size_t i = 0; i < forms.size(); ++i) {
      const PlanVariable& variable = space_.variables()[i];
      PlanEntry& entry = made.plan.entries[variable.convolution];
      entry.layout = variable.forms[forms[i]].layout;
      entry.fuse = variable.forms[forms[i]].fuse;
    }
    return made;
  }

 private:
  static PlanChoice with_gap(PlanChoice choice, double lower_bound) {
    choice.gap = choice.seconds > lower_bound ? (choice.seconds - lower_bound) / choice.seconds : 0;
    // Sums of the same terms in another order.
    choice.gap = choice.gap < 1e-9 ? 0 : choice.gap;
    return choice;
  }

  [[nodiscard]] const Way& way_of(const std::string& name, std::size_t id) const {
    if (limits_.put_back.contains(name)) {
      const auto entry = space_.default_plan().entries.find(name);
      if (entry != space_.default_plan().entries.end()) {
        if (const Way* way = space_.table().op(id).find(entry->second.implementation)) {
          return *way;
        }
      }
    }
    const std::vector<Way>& ways = space_.table().op(id).ways;
    const Way* best = nullptr;
    for (std::size_t i = 0; i < ways.size(); ++i) {
      const bool is_faster =
          best == nullptr || space_.table().seconds(ways[i]) < space_.table().seconds(*best);
      best = is_faster && !limits_.ways.contains({id, i}) ? &ways[i] : best;
    }
    best = best == nullptr ? space_.table().fastest(id) : best;
    check(best != nullptr, "a plan with an op that nothing computes");
    return *best;
  }

  [[nodiscard]] double cost(const StepOps& ops) const {
    double total = 0;
    for (const auto& [name, id] : ops) {
      total += space_.table().seconds(way_of(name, id));
    }
    return total;
  }

  [[nodiscard]] DiscreteProblem problem() const {
    const std::vector<PlanVariable>& variables = space_.variables();
    const double standard = cost(space_.default_ops());
    DiscreteProblem problem{{}, {{{}, {standard}}}};
    std::vector<std::vector<double>> changes;
    for (std::size_t i = 0; i < variables.size(); ++i) {
      problem.domains.push_back(variables[i].forms.size());
      std::vector<double>& change = changes.emplace_back();
      for (const Form& form : variables[i].forms) {
        change.push_back(cost(form.ops) - standard);
      }
      Factor factor{{i}, change};
      for (std::size_t form = 1; form < factor.costs.size(); ++form) {
        if (limits_.put_back.contains(variables[i].convolution) ||
            limits_.forms.contains({i, form})) {
          factor.costs[form] = kForbidden;
        }
      }
      problem.factors.push_back(std::move(factor));
    }
    std::map<std::pair<std::size_t, std::size_t>, std::size_t> tables;  // to index of a factor
    for (const FormPair& pair : space_.pairs()) {
      const std::size_t rows = problem.domains[pair.first];
      const std::size_t columns = problem.domains[pair.second];
      const auto [found, is_new] =
          tables.try_emplace({pair.first, pair.second}, problem.factors.size());
      if (is_new) {
        problem.factors.push_back(
            {{pair.first, pair.second}, std::vector<double>(rows * columns, 0.0)});
      }
      problem.factors[found->second].costs[pair.first_form * columns + pair.second_form] =
          pair.ops ? cost(*pair.ops) - standard - changes[pair.first][pair.first_form] -
                         changes[pair.second][pair.second_form]
                   : kForbidden;
    }
    problem.forbidden = space_.impossible();
    return problem;
  }

  PlanSpace& space_;
  const ChoiceLimits& limits_;
};

}  // namespace

PlanChoice default_choice(PlanSpace& space) {
  ChoiceLimits limits;
  for (const auto& op : space.default_ops()) {
    limits.put_back.insert(op.first);
  }
  const std::vector<std::size_t> forms(space.variables().size(), 0);
  return Chooser(space, limits).choice(forms, space.default_ops());
}

Result<PlanChoice> choose_plan(PlanSpace& space, const ChoiceLimits& limits) {
  return Chooser(space, limits).run();
}

}  // namespace mezzotint
