#include "tune/departures.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <iterator>
#include <map>
#include <set>

#include "base/check.h"
#include "tune/decisions.h"

namespace mezzotint {
namespace {

// Names of ops that differ between two networks, or are in one of them.
std::set<std::string> differences(const StepOps& a, const StepOps& b) {
  std::set<std::string> names;
  for (const auto& [ops, others] : {std::pair(&a, &b), std::pair(&b, &a)}) {
    for (const auto& [name, id] : *ops) {
      const auto found = others->find(name);
      if (found == others->end() || found->second != id) {
        names.insert(name);
      }
    }
  }
  return names;
}

class Cutter {
 public:
  Cutter(const PlanSpace& space, const PlanChoice& standard, const PlanChoice& chosen)
      : space_(space), standard_(standard), chosen_(chosen) {}

  std::vector<Departure> run() {
    std::vector<Departure> departures;
    std::set<std::string> told;
    for (const std::vector<std::size_t>& part : parts()) {
      const std::set<std::string> names = names_of(part);
      told.insert(names.begin(), names.end());
      departures.push_back(departure(space_.variables()[part.front()].convolution, names));
      for (const std::size_t variable : part) {
        departures.back().forms.emplace_back(variable, chosen_.forms[variable]);
      }
    }
    std::set<WayId> ways;
    for (const auto& [name, op] : chosen_.ops) {
      const auto before = standard_.ops.find(name);
      if (!told.contains(name) && before != standard_.ops.end() && before->second.op == op.op &&
          before->second.implementation != op.implementation &&
          ways.insert(way_of(space_.table(), op)).second) {
        departures.push_back(departure(name, {name}));
      }
    }
    return departures;
  }

 private:
  // Variables that depart, those that meet together.
  [[nodiscard]] std::vector<std::vector<std::size_t>> parts() const {
    std::map<std::size_t, std::size_t> part_of;  // the least variable of it
    for (std::size_t i = 0; i < chosen_.forms.size(); ++i) {
      if (chosen_.forms[i] != 0) {
        part_of[i] = i;
      }
    }
    for (const FormPair& pair : space_.pairs()) {
      if (!is_chosen(pair)) {
        continue;
      }
      const auto [least, other] = std::minmax(part_of[pair.first], part_of[pair.second]);
      for (auto& part : part_of) {
        part.second = part.second == other ? least : part.second;
      }
    }
    std::map<std::size_t, std::vector<std::size_t>> parts;
    for (const auto& [variable, part] : part_of) {
      parts[part].push_back(variable);
    }
    std::vector<std::vector<std::size_t>> lists;
    for (auto& part : parts) {
      lists.push_back(std::move(part.second));
    }
    return lists;
  }

  [[nodiscard]] bool is_chosen(const FormPair& pair) const {
    return pair.ops && chosen_.forms[pair.first] == pair.first_form &&
           chosen_.forms[pair.second] == pair.second_form;
  }

  [[nodiscard]] std::set<std::string> names_of(const std::vector<std::size_t>& part) const {
    std::set<std::string> names;
    for (const std::size_t variable : part) {
      const PlanVariable& each = space_.variables()[variable];
      names.insert(each.convolution);
      names.merge(differences(each.forms[chosen_.forms[variable]].ops, space_.default_ops()));
    }
    for (const FormPair& pair : space_.pairs()) {
      if (is_chosen(pair) && std::ranges::count(part, pair.first) != 0) {
        names.merge(differences(*pair.ops, space_.default_ops()));
      }
    }
    return names;
  }

  [[nodiscard]] Departure departure(const std::string& op,
                                    const std::set<std::string>& names) const {
    Departure made{op, describe_entry(chosen_.plan.entries.at(op)), {}, {}, {}};
    std::vector<WayId> standard = ways_of(standard_, names);
    std::vector<WayId> changed = ways_of(chosen_, names);
    std::ranges::set_difference(standard, changed, std::back_inserter(made.standard),
                                std::less<>());
    std::ranges::set_difference(changed, standard, std::back_inserter(made.changed), std::less<>());
    return made;
  }

  [[nodiscard]] std::vector<WayId> ways_of(const PlanChoice& choice,
                                           const std::set<std::string>& names) const {
    std::vector<WayId> ways;
    for (const std::string& name : names) {
      if (const auto found = choice.ops.find(name); found != choice.ops.end()) {
        ways.push_back(way_of(space_.table(), found->second));
      }
    }
    std::ranges::sort(ways, std::less<>());
    return ways;
  }

  const PlanSpace& space_;
  const PlanChoice& standard_;
  const PlanChoice& chosen_;
};

}  // namespace

WayId way_of(const OpTable& table, const ChosenOp& op) {
  const std::vector<Way>& ways = table.op(op.op).ways;
  const auto found = std::ranges::find(ways, op.implementation, &Way::name);
  check(found != ways.end(), "a chosen way is not in the table");
  return {op.op, static_cast<std::size_t>(found - ways.begin())};
}

std::vector<Departure> departures_of(const PlanSpace& space, const PlanChoice& standard,
                                     const PlanChoice& chosen) {
  return Cutter(space, standard, chosen).run();
}

double seconds_of(const OpTable& table, const std::vector<WayId>& ways) {
  double total = 0;
  for (const WayId& id : ways) {
    total += table.seconds(table.way(id));
  }
  return total;
}

std::string sides_of(const OpTable& table, const Departure& departure) {
  std::string text;
  for (const auto* side : {&departure.standard, &departure.changed}) {
    std::vector<std::string> ways;
    for (const WayId& id : *side) {
      ways.push_back(fmt::format("{}\n{}", table.way(id).name(), table.op(id.op).text));
    }
    std::ranges::sort(ways);
    text += fmt::format("{} ops\n{}", ways.size(), fmt::join(ways, ""));
  }
  return text;
}

}  // namespace mezzotint
