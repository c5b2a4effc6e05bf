#include "runtime/lower.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <iterator>
#include <map>
#include <span>

#include "base/error.h"
#include "base/quote.h"
#include "graph/conv_region.h"
#include "graph/verifier.h"
#include "runtime/layouts.h"
#include "runtime/memory_price.h"

namespace mezzotint {
namespace {

using Pass = std::function<Result<Graph>(const Graph&)>;

constexpr std::string_view kNameThat = "name that one instead";

// What run() can hand out: memory that an op writes, each value once.
Status check_outputs(const Graph& graph) {
  std::vector<ValueId> seen;
  for (const ValueId id : graph.outputs()) {
    const Value& value = graph.value(id);
    if (value.kind != ValueKind::kResult) {
      return invalid_input("output {}: an input or a weight, not an op's result", value.name);
    }
    if (std::count(seen.begin(), seen.end(), id) != 0) {
      return invalid_input("output {}: named twice", value.name);
    }
    seen.push_back(id);
  }
  return {};
}

Result<ValueId> find_activation(const Graph& graph, const std::string& name) {
  const auto id = graph.find_value(name);
  if (!id) {
    return invalid_input("{}: the model has no such op or module", name);
  }
  const Value& value = graph.value(*id);
  if (value.kind != ValueKind::kResult) {
    return invalid_input("{}: {} of the model; only an op's result can be kept", name,
                         value.kind == ValueKind::kInput ? "an input" : "a weight");
  }
  if (value.type.dtype != DType::kF32) {
    return invalid_input("{}: its values are {}; only float32 can be kept", name,
                         name_of(value.type.dtype));
  }
  return *id;
}

Result<Graph> keep_activations(const Graph& graph, const std::vector<std::string>& names) {
  Graph kept = graph;
  for (const std::string& name : names) {
    const auto id = find_activation(graph, name);
    if (!id) {
      return id.error();
    }
    if (std::count(kept.outputs().begin(), kept.outputs().end(), *id) == 0) {
      kept.add_output(*id);
    }
  }
  return kept;
}

Price price(const OpView& view, const Backend& backend, const CompileOptions& options,
            double memory_price) {
  const bool convolution = view.op.kind == OpKind::conv3d || view.op.kind == OpKind::region;
  const Explanation explanation = explain_op(
      view, backend, options.target(),
      convolution ? options.plan.implementation_of(view.op.name) : std::string(), memory_price);
  Price price;
  if (const Choice* chosen = explanation.chosen(); chosen != nullptr) {
    price.seconds = chosen->cost_seconds;
  }
  price.refusals = explanation.refusals();
  return price;
}

std::map<std::string, Fusions> asked_fusions(const Graph& graph, const Plan& plan) {
  std::map<std::string, Fusions> asked;
  for (const Op& op : graph.ops()) {
    if (op.kind == OpKind::conv3d) {
      if (auto fusions = plan.fusions_of(op.name)) {
        asked[op.name] = std::move(*fusions);
      }
    }
  }
  return asked;
}

Result<Lowered> grow_at(const Graph& graph, const Backend& backend, const CompileOptions& options,
                        double memory_price) {
  auto grown = grow_conv_regions(
      graph, [&](const OpView& view) { return price(view, backend, options, memory_price); },
      asked_fusions(graph, options.plan));
  if (!grown) {
    return grown.error();
  }
  if (Status status = verify(grown->graph); !status) {
    return status.error();
  }
  Lowered lowered{std::move(grown->graph), std::move(grown->declined), memory_price, {}};
  for (const Op& op : lowered.graph.ops()) {
    lowered.ops.push_back(explain_op({lowered.graph, op}, backend, options.target(),
                                     options.plan.implementation_of(op.name), memory_price));
  }
  return lowered;
}

double held_weights(const Lowered& lowered) {
  double held = 0;
  for (const Explanation& op : lowered.ops) {
    if (const Choice* chosen = op.chosen(); chosen != nullptr) {
      held += chosen->packed_bytes;
    }
  }
  return held;
}

// The region that took an op of this name; null: none did.
const Op* region_with(const std::string& name, const Graph& lowered) {
  const auto took_it = [&](const Op& op) {
    return op.body != nullptr && std::ranges::count(op.body->ops(), name, &Op::name) != 0;
  };
  const auto found = std::ranges::find_if(lowered.ops(), took_it);
  return found == lowered.ops().end() ? nullptr : &*found;
}

Status refuse(const Plan& plan, const std::string& problem, std::string_view remedy = {}) {
  return plan.refusal(ErrorCode::kInvalidInput, problem, remedy);
}

// Why nothing of this name runs. The layout of what is fused is obeyed all the same.
Status check_absent(const Plan& plan, const std::string& name, const PlanEntry& entry,
                    const Graph& graph, const Graph& lowered) {
  if (const Op* region = region_with(name, lowered); region != nullptr) {
    if (entry.implementation.empty() && !entry.fuse) {
      return {};
    }
    return refuse(plan, fmt::format("op {} is fused into {}", name, region->name), kNameThat);
  }
  if (const auto id = lowered.find_value(name);
      id && lowered.value(*id).kind == ValueKind::kResult) {
    return refuse(
        plan,
        fmt::format("op {} is computed as {}", name, lowered.op(lowered.value(*id).producer).name),
        kNameThat);
  }
  if (graph.find_value(name)) {
    return refuse(plan, fmt::format("no op {} is left to compute", name),
                  "name an op that bench --explain lists");
  }
  return refuse(plan, fmt::format("the model has no op {}", in_quotes(name)));
}

// An implementation that there is none of for this kind of op.
Status check_implementation(const Plan& plan, const Explanation& op) {
  const auto is_planned = [&](const Choice& choice) { return choice.implementation == op.planned; };
  if (op.planned.empty() || std::ranges::any_of(op.choices, is_planned)) {
    return {};
  }
  std::vector<std::string_view> names;
  for (const Choice& choice : op.choices) {
    names.emplace_back(choice.implementation);
  }
  return refuse(plan, fmt::format("op {} ({}): the plan asks for {}, which is none of {}", op.op,
                                  name_of(op.kind), in_quotes(op.planned), fmt::join(names, ", ")));
}

// Why a convolution, an op of `graph`, has not taken what was asked of it.
std::string reason_against(Fusion fusion, const Op& convolution, const Graph& graph,
                           const std::vector<Declined>& declined) {
  for (const Declined& each : declined) {
    const auto op = std::ranges::find(graph.ops(), each.op, &Op::name);
    if (each.convolution == convolution.name && op != graph.ops().end() &&
        fusion_of(op->kind, /*behind=*/&*op > &convolution) == fusion) {
      return fmt::format("op {}: {}", each.op, each.refusal);
    }
  }
  return "nothing like it is beside it";
}

Status check_fusions(const Plan& plan, const Op& op, const Fusions& asked, const Lowered& lowered,
                     const Explanation& explanation) {
  if (op.kind != OpKind::conv3d && op.kind != OpKind::region) {
    return refuse(plan, fmt::format("op {} ({}) is no convolution: nothing can be fused into it",
                                    op.name, name_of(op.kind)));
  }
  const Fusions taken = fusions_of(op);
  for (const Fusion fusion : asked) {
    if (!taken.contains(fusion)) {
      return refuse(plan, fmt::format("op {} cannot fuse {}: {}", op.name, name_of(fusion),
                                      reason_against(fusion, op, lowered.graph, lowered.declined)));
    }
  }
  if (explanation.chosen() == nullptr) {
    std::string reasons;
    for (const auto& [implementation, refusal] : explanation.refusals()) {
      reasons += fmt::format("; {}: {}", implementation, refusal);
    }
    return refuse(plan, fmt::format("op {} cannot be computed with {} fused{}", op.name,
                                    describe(asked), reasons));
  }
  return {};
}

}  // namespace

Result<Lowered> lower(const Graph& graph, const Backend& backend, const CompileOptions& options,
                      double least_price) {
  if (Status status = verify(graph); !status) {
    return status.error();
  }
  if (Status status = check_outputs(graph); !status) {
    return status.error();
  }
  auto rewritten = keep_activations(graph, options.keep);
  const Pass passes[] = {remove_dead_ops, sink_concat, merge_equal_ops,
                         [&](const Graph& built) { return lay_out(built, backend, options); }};
  for (const Pass& pass : passes) {
    if (rewritten) {
      rewritten = pass(*rewritten);
    }
    if (!rewritten) {
      return rewritten.error();
    }
    if (Status status = verify(*rewritten); !status) {
      return status.error();
    }
  }
  const std::span<const double> prices = memory_prices();
  const double budget = weight_budget(*rewritten);
  auto price_now = std::ranges::lower_bound(prices, least_price);
  for (;; ++price_now) {
    auto lowered = grow_at(*rewritten, backend, options, *price_now);
    if (!lowered || std::next(price_now) == prices.end() || held_weights(*lowered) <= budget) {
      return lowered;
    }
  }
}

Status check_plan(const Plan& plan, const Graph& graph, const Lowered& lowered) {
  const auto ops = lowered.graph.ops();
  for (const auto& [name, entry] : plan.entries) {
    const auto found = std::ranges::find(ops, name, &Op::name);
    if (found == ops.end()) {
      if (Status status = check_absent(plan, name, entry, graph, lowered.graph); !status) {
        return status;
      }
      continue;
    }
    if (entry.layout && !activation_layout({lowered.graph, *found})) {
      return refuse(plan,
                    fmt::format("op {} ({}) has no layout to choose", name, name_of(found->kind)));
    }
    const Explanation& explanation = lowered.ops[static_cast<std::size_t>(found - ops.begin())];
    if (Status status = check_implementation(plan, explanation); !status) {
      return status;
    }
    if (entry.fuse) {
      if (Status status = check_fusions(plan, *found, *entry.fuse, lowered, explanation); !status) {
        return status;
      }
    }
  }
  return {};
}

}  // namespace mezzotint
