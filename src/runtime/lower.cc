#include "runtime/lower.h"

#include <algorithm>
#include <functional>

#include "base/error.h"
#include "graph/verifier.h"
#include "runtime/choices.h"

namespace mezzotint {
namespace {

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

Price price(const OpView& view, const Backend& backend, const CompileOptions& options) {
  const bool convolution = view.op.kind == OpKind::conv3d || view.op.kind == OpKind::region;
  const Explanation explanation =
      explain_op(view, backend, options.target(),
                 convolution ? options.plan.implementation_of(view.op.name) : std::string());
  Price price;
  if (const Choice* chosen = explanation.chosen(); chosen != nullptr) {
    price.seconds = chosen->cost_seconds;
  }
  price.refusals = explanation.refusals();
  return price;
}

}  // namespace

Result<Lowered> lower(const Graph& graph, const Backend& backend, const CompileOptions& options) {
  if (Status status = verify(graph); !status) {
    return status.error();
  }
  if (Status status = check_outputs(graph); !status) {
    return status.error();
  }
  auto kept = keep_activations(graph, options.keep);
  if (!kept) {
    return kept.error();
  }
  Lowered lowered{std::move(*kept), {}};
  const auto grow = [&](const Graph& g) -> Result<Graph> {
    auto grown =
        grow_conv_regions(g, [&](const OpView& view) { return price(view, backend, options); });
    if (!grown) {
      return grown.error();
    }
    lowered.declined = std::move(grown->declined);
    return std::move(grown->graph);
  };
  const std::function<Result<Graph>(const Graph&)> passes[] = {
      remove_dead_ops, sink_concat, merge_equal_ops, use_channels_last, grow};
  for (const auto& pass : passes) {
    auto rewritten = pass(lowered.graph);
    if (!rewritten) {
      return rewritten.error();
    }
    if (Status status = verify(*rewritten); !status) {
      return status.error();
    }
    lowered.graph = std::move(*rewritten);
  }
  return lowered;
}

Status check_plan(const Plan& plan, const Graph& graph, const Graph& lowered) {
  for (const auto& entry : plan.entries) {
    const std::string& name = entry.first;
    const auto has_name = [&](const Op& op) { return op.name == name; };
    const auto took_it = [&](const Op& op) {
      return op.body != nullptr &&
             std::any_of(op.body->ops().begin(), op.body->ops().end(), has_name);
    };
    const auto ops = lowered.ops();
    if (std::any_of(ops.begin(), ops.end(), has_name)) {
      continue;
    }
    if (const auto region = std::find_if(ops.begin(), ops.end(), took_it); region != ops.end()) {
      return invalid_input("plan: op {} is fused into {}: name that one instead", name,
                           region->name);
    }
    if (const auto id = lowered.find_value(name);
        id && lowered.value(*id).kind == ValueKind::kResult) {
      return invalid_input("plan: op {} is computed as {}: name that one instead", name,
                           lowered.op(lowered.value(*id).producer).name);
    }
    if (graph.find_value(name)) {
      return invalid_input(
          "plan: no op {} is left to compute: name an op that bench --explain lists", name);
    }
    return invalid_input("plan: the model has no op {}", name);
  }
  return {};
}

}  // namespace mezzotint
