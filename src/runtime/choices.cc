#include "runtime/choices.h"

#include <limits>

#include "base/error.h"

namespace mezzotint {
namespace {

Choice consider(const Implementation& implementation, const OpView& view, const Backend& backend,
                const Target& target) {
  Choice choice;
  choice.implementation = implementation.name();
  if (auto reason = implementation.refusal(view, target)) {
    choice.refusal = std::move(*reason);
    return choice;
  }
  const auto row = backend.costs().find(implementation.name(), target.machine.isa);
  if (!row) {
    choice.cost_seconds = std::numeric_limits<double>::infinity();  // nothing speaks for it
    return choice;
  }
  const Work work = implementation.work(view, target);
  choice.cost_seconds = CostTable::seconds(*row, work.flops, work.bytes, 1);
  choice.predicted_seconds =
      CostTable::seconds(*row, work.flops, work.bytes, target.machine.threads);
  return choice;
}

}  // namespace

Explanation explain_op(const OpView& view, const Backend& backend, const CompileOptions& options) {
  Explanation explanation{view.op.name, view.op.kind, {}};
  const auto planned = options.plan.entries.find(view.op.name);
  Choice* best = nullptr;
  for (const Implementation* implementation : backend.implementations(view.op.kind)) {
    explanation.choices.push_back(consider(*implementation, view, backend, options.target()));
  }
  for (Choice& choice : explanation.choices) {
    if (planned != options.plan.entries.end() && !planned->second.implementation.empty() &&
        planned->second.implementation != choice.implementation) {
      continue;
    }
    if (choice.refusal.empty() && (best == nullptr || choice.cost_seconds < best->cost_seconds)) {
      best = &choice;
    }
  }
  if (best != nullptr) {
    best->chosen = true;
  }
  return explanation;
}

std::vector<Explanation> explain(const Graph& lowered, const Backend& backend,
                                 const CompileOptions& options) {
  std::vector<Explanation> explanations;
  for (const Op& op : lowered.ops()) {
    explanations.push_back(explain_op({lowered, op}, backend, options));
  }
  return explanations;
}

Error nothing_can(const Explanation& explanation, const CompileOptions& options) {
  const auto planned = options.plan.entries.find(explanation.op);
  std::string reasons;
  for (const Choice& choice : explanation.choices) {
    if (!choice.refusal.empty()) {
      reasons += fmt::format("; {}: {}", choice.implementation, choice.refusal);
    }
  }
  if (planned != options.plan.entries.end() && !planned->second.implementation.empty()) {
    return unsupported("op {} ({}): the plan asks for {}, which cannot compute it{}",
                       explanation.op, name_of(explanation.kind), planned->second.implementation,
                       reasons);
  }
  return unsupported("op {} ({}): no implementation here can compute it{}", explanation.op,
                     name_of(explanation.kind), reasons);
}

}  // namespace mezzotint
