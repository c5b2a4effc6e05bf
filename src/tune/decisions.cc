#include "tune/decisions.h"

#include <fmt/format.h>

#include <algorithm>
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

// The form that a plan gives a variable.
std::size_t form_of(const PlanVariable& variable, const Plan& plan) {
  const auto entry = plan.entries.find(variable.convolution);
  for (std::size_t i = 0; entry != plan.entries.end() && i < variable.forms.size(); ++i) {
    if (variable.forms[i].layout == entry->second.layout &&
        variable.forms[i].fuse == entry->second.fuse) {
      return i;
    }
  }
  return 0;
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
  for (const PlanVariable& variable : space.variables()) {
    const std::size_t form = form_of(variable, chosen.plan);
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

std::vector<TuneLoss> losses_of(const PlanSpace& space, const PlanChoice& chosen,
                                std::size_t most_ops) {
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
    for (const Way& way : space.table().op(op.op).ways) {
      if (way.name() != op.implementation) {
        own.push_back({name, way.name(), space.table().seconds(way) - op.seconds, ""});
      }
    }
    const auto variable = std::ranges::find(space.variables(), name, &PlanVariable::convolution);
    if (variable != space.variables().end()) {
      const std::size_t taken = form_of(*variable, chosen.plan);
      for (std::size_t i = 0; i < variable->forms.size(); ++i) {
        const Form& form = variable->forms[i];
        if (i != taken) {
          own.push_back({name, describe_entry({"any", form.layout, form.fuse}),
                         space.seconds(form.ops) - space.seconds(variable->forms[taken].ops), ""});
        }
      }
    }
    std::ranges::stable_sort(own, [](const TuneLoss& a, const TuneLoss& b) {
      return a.slower_seconds < b.slower_seconds;
    });
    losses.insert(losses.end(), own.begin(), own.end());
    for (const auto& [implementation, reason] : space.table().op(op.op).refusals) {
      losses.push_back({name, implementation, 0, reason});
    }
  }
  return losses;
}

}  // namespace mezzotint
