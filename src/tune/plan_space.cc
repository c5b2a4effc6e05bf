#include "tune/plan_space.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <utility>

#include "base/cancel.h"
#include "base/check.h"
#include "graph/conv_region.h"
#include "runtime/lower.h"

namespace mezzotint {

// A lowered network, as far as a plan space needs it.
struct PlanSpace::Lowering {
  StepOps ops;
  std::map<std::string, std::set<std::string>> values;  // by op: what it reads and writes
  std::map<std::string, Fusions> taken;                 // by convolution of the step rate
  bool is_possible = true;                              // something computes each op
};

namespace {

bool is_convolution(const Op& op) {
  return op.kind == OpKind::conv3d || op.kind == OpKind::region;
}

std::set<std::string> values_of(const OpView& view) {
  std::set<std::string> names;
  for (const auto* ids : {&view.op.inputs, &view.op.outputs}) {
    for (const ValueId id : *ids) {
      if (view.graph.value(id).kind != ValueKind::kParameter) {
        names.insert(view.graph.value(id).name);
      }
    }
  }
  return names;
}

bool share(const std::set<std::string>& a, const std::set<std::string>& b) {
  return std::ranges::any_of(a, [&](const std::string& name) { return b.contains(name); });
}

}  // namespace

Result<PlanSpace::Lowering> PlanSpace::lower_entries(
    const std::map<std::string, PlanEntry>& changed) {
  if (!on_lowered_(++lowered_)) {
    return stopped();
  }
  CompileOptions options = *options_;
  for (const auto& [op, entry] : changed) {
    options.plan.entries[op] = entry;
  }
  const auto lowered = lower(*graph_, *backend_, options);
  if (!lowered) {
    return lowered.error();
  }
  Lowering result;
  for (const Op& op : lowered->graph.ops()) {
    const OpView view{lowered->graph, op};
    if (view.output().rate != Rate::kStep) {
      continue;
    }
    const auto id = table_.add(view);
    if (!id) {
      return id.error();
    }
    result.ops[op.name] = *id;
    result.values[op.name] = values_of(view);
    result.is_possible = result.is_possible && !table_.op(*id).ways.empty();
    if (is_convolution(op)) {
      result.taken[op.name] = fusions_of(op);
    }
  }
  return result;
}

Result<PlanSpace> PlanSpace::explore(const Graph& graph, const Backend& backend,
                                     const CompileOptions& options, OnLowered on_lowered,
                                     const Deadline& deadline) {
  PlanSpace space(graph, backend, options, std::move(on_lowered));
  auto base = space.lower_entries({});
  if (!base) {
    return base.error();
  }
  space.default_ops_ = std::move(base->ops);
  space.use(space.default_ops_);
  for (const auto& taken : base->taken) {
    if (Status status = space.add_variable(taken.first, deadline); !status) {
      return status.error();
    }
  }
  return space;
}

bool PlanSpace::is_over(const Deadline& deadline) {
  cut_short_ = cut_short_ || deadline.is_over();
  return cut_short_;
}

Status PlanSpace::add_variable(const std::string& convolution, const Deadline& deadline) {
  const auto planned = options_->plan.entries.find(convolution);
  if (planned == options_->plan.entries.end() || !planned->second.fuse) {
    return {};  // not of the default's own making: it stays as it is
  }
  PlanVariable variable{convolution, {}};
  const PlanEntry& standard = planned->second;
  variable.forms.push_back({standard.layout, *standard.fuse, default_ops_, {}, {}, {}});
  for (const Layout layout : {Layout::kChannelsLast, Layout::kRowMajor}) {
    const std::optional<Layout> asked =
        layout == options_->plan.layout ? std::nullopt : std::optional(layout);
    if (Status status = add_forms(variable, asked, deadline); !status) {
      return status;
    }
  }
  variables_.push_back(std::move(variable));
  return {};
}

// From nothing fused on, one fusion more at a time for as long as something computes it.
Status PlanSpace::add_forms(PlanVariable& variable, std::optional<Layout> layout,
                            const Deadline& deadline) {
  if (is_over(deadline)) {
    return {};
  }
  const auto everything =
      lower_entries({{variable.convolution,
                      {"", layout, Fusions(std::begin(kAllFusions), std::end(kAllFusions))}}});
  if (!everything) {
    return everything.error();
  }
  const auto found = everything->taken.find(variable.convolution);
  const Fusions there = found == everything->taken.end() ? Fusions() : found->second;
  std::vector<Fusions> next{{}};
  std::set<Fusions> seen{{}};
  while (!next.empty() && !is_over(deadline)) {
    const Fusions fuse = std::move(next.back());
    next.pop_back();
    const auto is_possible = add_form(variable, {"", layout, fuse});
    if (!is_possible) {
      return is_possible.error();
    }
    for (const Fusion fusion : there) {
      Fusions more = fuse;
      more.insert(fusion);
      if ((*is_possible || fuse.empty()) && seen.insert(more).second) {
        next.push_back(std::move(more));
      }
    }
  }
  return {};
}

Result<bool> PlanSpace::add_form(PlanVariable& variable, const PlanEntry& entry) {
  if (entry.layout == variable.forms[0].layout && entry.fuse == variable.forms[0].fuse) {
    return true;
  }
  auto lowering = lower_entries({{variable.convolution, entry}});
  if (!lowering) {
    return lowering.error();
  }
  const auto taken = lowering->taken.find(variable.convolution);
  if (!lowering->is_possible || taken == lowering->taken.end() || taken->second != *entry.fuse) {
    return false;
  }
  const auto is_same = [&](const Form& form) { return form.ops == lowering->ops; };
  if (std::ranges::any_of(variable.forms, is_same)) {
    return true;
  }
  use(lowering->ops);
  Form form{entry.layout, *entry.fuse, std::move(lowering->ops), {}, {}, {}};
  for (const auto& [name, id] : form.ops) {
    const auto found = default_ops_.find(name);
    if (found != default_ops_.end() && found->second == id) {
      continue;
    }
    form.touched.insert(name);
    form.values.insert(lowering->values[name].begin(), lowering->values[name].end());
    if (table_.op(id).graph.op(0).kind == OpKind::reorder && found == default_ops_.end()) {
      form.added.push_back(id);
    }
  }
  for (const auto& [name, id] : default_ops_) {
    if (!form.ops.contains(name)) {
      form.touched.insert(name);
    }
  }
  variable.forms.push_back(std::move(form));
  return true;
}

PlanEntry PlanSpace::entry_of(const PlanVariable& variable, std::size_t form) const {
  if (form == 0) {
    return options_->plan.entries.at(variable.convolution);
  }
  return {"", variable.forms[form].layout, variable.forms[form].fuse};
}

// Changes of the same op, or of a layout at the same value.
bool PlanSpace::meet(const Form& a, const Form& b) const {
  return share(a.touched, b.touched) || (a.layout && b.layout && share(a.values, b.values));
}

Status PlanSpace::join_forms(const Deadline& deadline) {
  const double standard = seconds(default_ops_);
  for (PlanVariable& variable : variables_) {
    const std::size_t before = variable.forms.size();
    std::erase_if(variable.forms, [&](const Form& form) {
      double conversions = 0;
      for (const std::size_t id : form.added) {
        conversions += table_.seconds(*table_.fastest(id));
      }
      return form.layout && seconds(form.ops) - standard > 2 * conversions;
    });
    dropped_ += static_cast<int>(before - variable.forms.size());
  }
  for (std::size_t i = 0; i < variables_.size(); ++i) {
    for (std::size_t j = i + 1; j < variables_.size(); ++j) {
      for (std::size_t a = 1; a < variables_[i].forms.size(); ++a) {
        for (std::size_t b = 1; b < variables_[j].forms.size(); ++b) {
          if (!meet(variables_[i].forms[a], variables_[j].forms[b])) {
            continue;
          }
          if (is_over(deadline)) {
            pairs_.push_back({i, j, a, b, std::nullopt});
            continue;
          }
          std::vector<std::size_t> forms(variables_.size(), 0);
          forms[i] = a;
          forms[j] = b;
          auto ops = lower_forms(forms);
          if (!ops) {
            return ops.error();
          }
          if (ops->has_value()) {
            use(**ops);
          }
          pairs_.push_back({i, j, a, b, std::move(*ops)});
        }
      }
    }
  }
  return {};
}

Result<std::optional<StepOps>> PlanSpace::lower_forms(const std::vector<std::size_t>& forms) {
  std::map<std::string, PlanEntry> changed;
  for (std::size_t i = 0; i < forms.size(); ++i) {
    if (forms[i] != 0) {
      changed[variables_[i].convolution] = entry_of(variables_[i], forms[i]);
    }
  }
  auto lowering = lower_entries(changed);
  if (!lowering) {
    return lowering.error();
  }
  bool is_obeyed = lowering->is_possible;
  for (std::size_t i = 0; i < forms.size(); ++i) {
    const auto taken = lowering->taken.find(variables_[i].convolution);
    is_obeyed = is_obeyed && taken != lowering->taken.end() &&
                taken->second == variables_[i].forms[forms[i]].fuse;
  }
  return is_obeyed ? std::optional(std::move(lowering->ops)) : std::nullopt;
}

Status PlanSpace::forbid(const std::vector<std::size_t>& forms) {
  std::vector<std::size_t> left = forms;
  for (std::size_t i = 0; i < forms.size(); ++i) {
    if (forms[i] == 0) {
      continue;
    }
    left[i] = 0;
    const auto ops = lower_forms(left);
    if (!ops) {
      return ops.error();
    }
    if (ops->has_value()) {
      left[i] = forms[i];
    }
  }
  std::vector<VariableForm> together;
  for (std::size_t i = 0; i < left.size(); ++i) {
    if (left[i] != 0) {
      together.emplace_back(i, left[i]);
    }
  }
  check(!together.empty(), "the default cannot be lowered");
  impossible_.push_back(std::move(together));
  return {};
}

std::vector<std::vector<std::size_t>> PlanSpace::rivals() const {
  struct Rivals {
    std::vector<std::size_t> ops;
    double seconds = 0;
  };
  std::vector<Rivals> lists(variables_.size());
  std::set<std::size_t> listed;
  const auto add = [&](Rivals& list, std::size_t id) {
    if (table_.op(id).is_used && listed.insert(id).second) {
      list.ops.push_back(id);
      list.seconds += table_.seconds(*table_.fastest(id));
    }
  };
  const auto add_changed = [&](Rivals& list, const StepOps& ops) {
    for (const auto& [name, id] : ops) {
      const auto standard = default_ops_.find(name);
      if (standard == default_ops_.end() || standard->second != id) {
        add(list, id);
      }
    }
    for (const auto& [name, id] : default_ops_) {
      const auto changed = ops.find(name);
      if (changed == ops.end() || changed->second != id) {
        add(list, id);
      }
    }
  };
  for (std::size_t i = 0; i < variables_.size(); ++i) {
    for (const Form& form : variables_[i].forms) {
      add_changed(lists[i], form.ops);
    }
  }
  for (const FormPair& pair : pairs_) {
    if (pair.ops) {
      add_changed(lists[pair.first], *pair.ops);
    }
  }
  std::ranges::stable_sort(lists, std::greater(), &Rivals::seconds);
  std::vector<std::vector<std::size_t>> ops;
  for (Rivals& list : lists) {
    ops.push_back(std::move(list.ops));
  }
  return ops;
}

void PlanSpace::use(const StepOps& ops) {
  for (const auto& op : ops) {
    table_.use(op.second);
  }
}

double PlanSpace::seconds(const StepOps& ops) const {
  double total = 0;
  for (const auto& op : ops) {
    total += table_.seconds(*table_.fastest(op.second));
  }
  return total;
}

}  // namespace mezzotint
