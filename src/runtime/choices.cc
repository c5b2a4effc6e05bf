#include "runtime/choices.h"

#include <algorithm>
#include <limits>

#include "base/error.h"
#include "base/quote.h"

namespace mezzotint {
namespace {

Choice consider(const Implementation& implementation, const OpView& view, const Backend& backend,
                const Target& target, double memory_price) {
  Choice choice;
  choice.implementation = implementation.name();
  if (auto reason = implementation.refusal(view, target)) {
    choice.refusal = std::move(*reason);
    return choice;
  }
  const auto row = backend.costs().find(implementation.name(), target.machine.isa);
  if (!row) {
    choice.one_thread_seconds = std::numeric_limits<double>::infinity();  // nothing speaks for it
    choice.cost_seconds = choice.one_thread_seconds;
    return choice;
  }
  const Work work = implementation.work(view, target);
  choice.one_thread_seconds = CostTable::seconds(*row, work.priced_flops, work.bytes, 1);
  choice.cost_seconds = choice.one_thread_seconds + work.packed_bytes * memory_price;
  choice.packed_bytes = work.packed_bytes;
  choice.predicted_seconds =
      CostTable::seconds(*row, work.priced_flops, work.bytes, target.machine.threads);
  return choice;
}

}  // namespace

const Choice* Explanation::chosen() const {
  const auto found = std::ranges::find_if(choices, &Choice::chosen);
  return found == choices.end() ? nullptr : &*found;
}

std::map<std::string, std::string> Explanation::refusals() const {
  std::map<std::string, std::string> reasons;
  for (const Choice& choice : choices) {
    if (!choice.refusal.empty() && (planned.empty() || planned == choice.implementation)) {
      reasons[choice.implementation] = choice.refusal;
    }
  }
  return reasons;
}

Explanation explain_op(const OpView& view, const Backend& backend, const Target& target,
                       const std::string& planned, double memory_price) {
  Explanation explanation{view.op.name, view.op.kind, planned, {}};
  for (const Implementation* implementation : backend.implementations(view.op.kind)) {
    explanation.choices.push_back(consider(*implementation, view, backend, target, memory_price));
  }
  Choice* best = nullptr;
  for (Choice& choice : explanation.choices) {
    const bool asked = planned.empty() || planned == choice.implementation;
    if (asked && choice.refusal.empty() &&
        (best == nullptr || choice.cost_seconds < best->cost_seconds)) {
      best = &choice;
    }
  }
  if (best != nullptr) {
    best->chosen = true;
  }
  return explanation;
}

Error nothing_can(const Explanation& explanation, const Plan& plan) {
  std::string reasons;
  for (const Choice& choice : explanation.choices) {
    if (!choice.refusal.empty()) {
      reasons += fmt::format("; {}: {}", choice.implementation, choice.refusal);
    }
  }
  if (!explanation.planned.empty()) {
    return plan.refusal(
        ErrorCode::kUnsupported,
        fmt::format("op {} ({}): the plan asks for {}, which cannot compute it{}", explanation.op,
                    name_of(explanation.kind), in_quotes(explanation.planned), reasons));
  }
  return unsupported("op {} ({}): no implementation here can compute it{}", explanation.op,
                     name_of(explanation.kind), reasons);
}

}  // namespace mezzotint
