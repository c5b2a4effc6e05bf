#include "tune/decisions.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <set>

namespace mezzotint {
namespace {

double seconds_of(const PlanChoice& choice, const std::set<std::string>& names) {
  double total = 0;
  for (const std::string& name : names) {
    const auto found = choice.ops.find(name);
    total += found == choice.ops.end() ? 0 : found->second.seconds;
  }
  return total;
}

PlanEntry entry_of(const PlanChoice& choice, const std::string& op) {
  const auto found = choice.plan.entries.find(op);
  return found == choice.plan.entries.end() ? PlanEntry{} : found->second;
}

TuneDecision decision(const std::string& op, const PlanChoice& standard, const PlanChoice& chosen,
                      const std::set<std::string>& around) {
  TuneDecision made;
  made.op = op;
  made.from = describe_entry(entry_of(standard, op));
  made.to = describe_entry(entry_of(chosen, op));
  made.gain_seconds = seconds_of(standard, around) - seconds_of(chosen, around);
  made.error_growth = chosen.ops.at(op).error_growth;
  made.growth_before = standard.ops.at(op).error_growth;
  return made;
}

}  // namespace

std::string describe_entry(const PlanEntry& entry) {
  std::string text = entry.implementation;
  if (entry.fuse && !entry.fuse->empty()) {
    text += fmt::format(", fuses {}", describe(*entry.fuse));
  }
  if (entry.layout) {
    text += *entry.layout == Layout::kRowMajor ? ", channels-first" : ", channels-last";
  }
  return text;
}

std::vector<TuneDecision> decisions_of(const PlanSpace& space, const PlanChoice& standard,
                                       const PlanChoice& chosen) {
  std::vector<TuneDecision> decisions;
  std::set<std::string> told;
  for (std::size_t i = 0; i < space.variables().size(); ++i) {
    const PlanVariable& variable = space.variables()[i];
    const std::size_t form = chosen.forms[i];
    if (form == 0) {
      continue;
    }
    std::set<std::string> around = variable.forms[form].touched;
    around.insert(variable.convolution);
    std::erase_if(around, [&](const std::string& name) { return !told.insert(name).second; });
    decisions.push_back(decision(variable.convolution, standard, chosen, around));
  }
  for (const auto& [name, op] : chosen.ops) {
    const auto before = standard.ops.find(name);
    if (!told.contains(name) && before != standard.ops.end() &&
        before->second.implementation != op.implementation) {
      decisions.push_back(decision(name, standard, chosen, {name}));
    }
  }
  std::ranges::stable_sort(decisions, [](const TuneDecision& a, const TuneDecision& b) {
    return a.gain_seconds > b.gain_seconds;
  });
  return decisions;
}

namespace {

void add_other_ways(const PlanSpace& space, const ChosenOp& op, const ChoiceLimits& limits,
                    std::vector<TuneLoss>& losses, const std::string& name) {
  const std::vector<Way>& ways = space.table().op(op.op).ways;
  for (std::size_t i = 0; i < ways.size(); ++i) {
    if (ways[i].name() != op.implementation) {
      const auto limit = limits.ways.find({op.op, i});
      losses.push_back({name, ways[i].name(), space.table().seconds(ways[i]) - op.seconds,
                        limit == limits.ways.end() ? "" : limit->second, ""});
    }
  }
}

void add_other_forms(const PlanSpace& space, std::size_t variable, const PlanChoice& chosen,
                     const ChoiceLimits& limits, std::vector<TuneLoss>& losses) {
  const auto& [convolution, forms] = space.variables()[variable];
  const double taken = space.seconds(forms[chosen.forms[variable]].ops);
  for (std::size_t i = 0; i < forms.size(); ++i) {
    if (i != chosen.forms[variable]) {
      const auto limit = limits.forms.find({variable, i});
      const Way* way = space.table().fastest(forms[i].ops.at(convolution));
      losses.push_back({convolution, describe_entry({way->name(), forms[i].layout, forms[i].fuse}),
                        space.seconds(forms[i].ops) - taken,
                        limit == limits.forms.end() ? "" : limit->second, ""});
    }
  }
}

}  // namespace

std::vector<TuneLoss> losses_of(const PlanSpace& space, const PlanChoice& chosen,
                                const ChoiceLimits& limits, std::size_t most_ops) {
  std::vector<std::string> slowest;
  for (const auto& op : chosen.ops) {
    slowest.push_back(op.first);
  }
  std::ranges::stable_sort(slowest, [&](const std::string& a, const std::string& b) {
    return chosen.ops.at(a).seconds > chosen.ops.at(b).seconds;
  });
  slowest.resize(std::min(most_ops, slowest.size()));
  std::vector<TuneLoss> losses;
  for (const std::string& name : slowest) {
    const ChosenOp& op = chosen.ops.at(name);
    std::vector<TuneLoss> own;
    add_other_ways(space, op, limits, own, name);
    const auto variable = std::ranges::find(space.variables(), name, &PlanVariable::convolution);
    if (variable != space.variables().end()) {
      add_other_forms(space, static_cast<std::size_t>(variable - space.variables().begin()), chosen,
                      limits, own);
    }
    std::ranges::stable_sort(own, std::less(), &TuneLoss::slower_seconds);
    losses.insert(losses.end(), own.begin(), own.end());
    for (const auto& [implementation, reason] : space.table().op(op.op).refusals) {
      losses.push_back({name, implementation, 0, "", reason});
    }
  }
  return losses;
}

std::vector<std::string> describe_impossible(const PlanSpace& space) {
  std::vector<std::string> texts;
  for (const std::vector<VariableForm>& together : space.impossible()) {
    std::vector<std::string> forms;
    for (const auto& [variable, form] : together) {
      const PlanVariable& each = space.variables()[variable];
      const Form& chosen = each.forms[form];
      forms.push_back(fmt::format("{} (fuses {}{})", each.convolution, describe(chosen.fuse),
                                  chosen.layout == Layout::kRowMajor ? ", channels-first" : ""));
    }
    texts.push_back(fmt::format("{}", fmt::join(forms, ", ")));
  }
  return texts;
}

}  // namespace mezzotint
