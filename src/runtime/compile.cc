#include "runtime/compile.h"

#include <algorithm>
#include <functional>
#include <limits>

#include "base/check.h"
#include "base/error.h"
#include "graph/op_definition.h"
#include "graph/verifier.h"
#include "passes/passes.h"
#include "runtime/memory_planner.h"

namespace mezzotint {
namespace {

Target target_of(const CompileOptions& options) {
  return {options.machine, options.plan.precision};
}

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
  const double flops = flops_of(view);
  const double bytes = bytes_of(view);
  choice.cost_seconds = CostTable::seconds(*row, flops, bytes, 1);
  choice.predicted_seconds = CostTable::seconds(*row, flops, bytes, target.machine.threads);
  return choice;
}

// All choices for one op; the plan's entry, else the cheapest that can, is marked as chosen.
Explanation explain_op(const OpView& view, const Backend& backend, const CompileOptions& options) {
  Explanation explanation{view.op.name, view.op.kind, {}};
  const auto planned = options.plan.entries.find(view.op.name);
  Choice* best = nullptr;
  for (const Implementation* implementation : backend.implementations(view.op.kind)) {
    explanation.choices.push_back(consider(*implementation, view, backend, target_of(options)));
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

// An entry that no op of the lowered graph answers to would be ignored.
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
    if (graph.find_value(name)) {
      return invalid_input(
          "plan: no op {} is left to compute: name an op that bench --explain lists", name);
    }
    return invalid_input("plan: the model has no op {}", name);
  }
  return {};
}

}  // namespace

Result<Graph> lower(const Graph& graph, const Backend& backend, const CompileOptions& options) {
  if (Status status = verify(graph); !status) {
    return status.error();
  }
  if (Status status = check_outputs(graph); !status) {
    return status.error();
  }
  Graph lowered = graph;
  for (const std::string& name : options.keep) {
    const auto id = find_activation(graph, name);
    if (!id) {
      return id.error();
    }
    if (std::count(lowered.outputs().begin(), lowered.outputs().end(), *id) == 0) {
      lowered.add_output(*id);
    }
  }
  const Target target = target_of(options);
  const AcceptRegion accept = [&](const OpView& view) {
    const auto implementations = backend.implementations(view.op.kind);
    return std::any_of(implementations.begin(), implementations.end(),
                       [&](const Implementation* implementation) {
                         return !implementation->refusal(view, target);
                       });
  };
  const std::function<Result<Graph>(const Graph&)> passes[] = {
      remove_dead_ops, sink_concat, use_channels_last,
      [&](const Graph& g) { return grow_conv_regions(g, accept); }};
  for (const auto& pass : passes) {
    auto rewritten = pass(lowered);
    if (!rewritten) {
      return rewritten.error();
    }
    if (Status status = verify(*rewritten); !status) {
      return status.error();
    }
    lowered = std::move(*rewritten);
  }
  return lowered;
}

std::vector<Explanation> explain(const Graph& lowered, const Backend& backend,
                                 const CompileOptions& options) {
  std::vector<Explanation> explanations;
  for (const Op& op : lowered.ops()) {
    explanations.push_back(explain_op({lowered, op}, backend, options));
  }
  return explanations;
}

// Builds one Program.
class Compiler {
 public:
  Compiler(const Graph& original, const Backend& backend, const CompileOptions& options)
      : original_(original), backend_(backend), options_(options) {}

  Result<Program> run() {
    auto lowered = lower(original_, backend_, options_);
    if (!lowered) {
      return lowered.error();
    }
    if (Status status = check_plan(options_.plan, original_, *lowered); !status) {
      return status.error();
    }
    program_.graph_ = std::move(*lowered);
    order_by_rate();
    if (Status status = prepare_kernels(); !status) {
      return status.error();
    }
    place_externals();
    place_results();
    return std::move(program_);
  }

 private:
  const Graph& graph() const { return program_.graph_; }
  const Op& op_at(std::size_t position) const { return graph().op(order_[position]); }

  Rate rate_of(const Op& op) const { return graph().value(op.outputs[0]).rate; }

  // Everything slower than a step comes first; the order within a rate stays topological.
  void order_by_rate() {
    for (const bool steps : {false, true}) {
      for (OpId id = 0; id < graph().ops().size(); ++id) {
        if ((rate_of(graph().op(id)) == Rate::kStep) == steps) {
          order_.push_back(id);
        }
      }
      if (!steps) {
        first_step_ = order_.size();
      }
    }
  }

  Status prepare_kernels() {
    for (std::size_t position = 0; position < order_.size(); ++position) {
      const OpView view{graph(), op_at(position)};
      const Explanation explanation = explain_op(view, backend_, options_);
      const auto chosen = std::find_if(explanation.choices.begin(), explanation.choices.end(),
                                       [](const Choice& choice) { return choice.chosen; });
      if (chosen == explanation.choices.end()) {
        return nothing_can(explanation, options_);
      }
      const auto index = static_cast<std::size_t>(chosen - explanation.choices.begin());
      const Implementation& implementation = *backend_.implementations(view.op.kind)[index];
      auto kernel = implementation.prepare(view, target_of(options_));
      if (!kernel) {
        return kernel.error();
      }
      Program::Node node;
      node.op = order_[position];
      node.kernel = std::move(*kernel);
      program_.infos_.push_back({view.op.name, view.op.kind, chosen->implementation,
                                 rate_of(view.op), flops_of(view), bytes_of(view),
                                 chosen->predicted_seconds, node.kernel->packed_bytes(),
                                 node.kernel->workspace_bytes()});
      program_.nodes_.push_back(std::move(node));
    }
    return {};
  }

  // Inputs and outputs are the caller's memory, under the names of the graph before lowering.
  void place_externals() {
    places_.assign(graph().values().size(), {});
    const auto add = [&](ValueId id, std::string name) {
      for (const Program::External& other : program_.externals_) {
        check(other.name != name, "two inputs or outputs of a program have one name");
      }
      places_[id] = {Program::Place::Kind::kExternal, 0, program_.externals_.size()};
      program_.externals_.push_back(
          {std::move(name), static_cast<std::size_t>(graph().value(id).type.bytes())});
    };
    for (const ValueId id : graph().inputs()) {
      add(id, graph().value(id).name);
    }
    // lower() appends the kept values that are no outputs yet, in the order of their names.
    std::vector<ValueId> outputs(original_.outputs().begin(), original_.outputs().end());
    std::vector<std::string> names;
    for (const ValueId id : outputs) {
      names.push_back(original_.value(id).name);
    }
    for (const std::string& name : options_.keep) {
      const ValueId id = *original_.find_value(name);
      if (std::count(outputs.begin(), outputs.end(), id) == 0) {
        outputs.push_back(id);
        names.push_back(name);
      }
    }
    check(graph().outputs().size() == names.size(), "lowering changed the number of outputs");
    for (std::size_t i = 0; i < names.size(); ++i) {
      add(graph().outputs()[i], names[i]);
    }
  }

  bool in_arena(ValueId id) const {
    return graph().value(id).kind == ValueKind::kResult &&
           places_[id].kind != Program::Place::Kind::kExternal;
  }

  // Last position that reads each value; values of the volume rate that a step reads live on, since
  // every step reads them again.
  std::vector<std::size_t> last_uses() const {
    std::vector<std::size_t> last(graph().values().size(), 0);
    for (std::size_t position = 0; position < order_.size(); ++position) {
      const Op& op = op_at(position);
      for (const ValueId id : op.outputs) {
        last[id] = std::max(last[id], position);
      }
      for (const ValueId id : op.inputs) {
        const bool survives = position >= first_step_ && graph().value(id).rate != Rate::kStep;
        last[id] = std::max(last[id], survives ? order_.size() : position);
      }
    }
    return last;
  }

  // The input whose memory output 0 can take over, if any.
  std::optional<ValueId> alias_for(std::size_t position,
                                   const std::vector<std::size_t>& last) const {
    const Op& op = op_at(position);
    const ValueId output = op.outputs[0];
    if (!options_.allow_in_place || !in_arena(output)) {
      return std::nullopt;
    }
    for (const std::size_t i : program_.nodes_[position].kernel->aliasable_inputs()) {
      const ValueId input = op.inputs[i];
      const bool dies_here = in_arena(input) && last[input] == position &&
                             std::count(op.inputs.begin(), op.inputs.end(), input) == 1;
      if (dies_here && graph().value(input).type.bytes() == graph().value(output).type.bytes()) {
        return input;
      }
    }
    return std::nullopt;
  }

  void place_results() {
    const std::vector<std::size_t> last = last_uses();
    std::vector<BufferRequest> requests;
    std::vector<std::size_t> request_of(graph().values().size(), 0);
    std::vector<std::size_t> workspace_of(order_.size(), 0);
    for (std::size_t position = 0; position < order_.size(); ++position) {
      const Op& op = op_at(position);
      const auto alias = alias_for(position, last);
      for (std::size_t i = 0; i < op.outputs.size(); ++i) {
        const ValueId id = op.outputs[i];
        if (!in_arena(id)) {
          continue;
        }
        if (i == 0 && alias) {
          request_of[id] = request_of[*alias];
          requests[request_of[id]].last = last[id];
        } else {
          request_of[id] = requests.size();
          requests.push_back(
              {static_cast<std::size_t>(graph().value(id).type.bytes()), position, last[id]});
        }
      }
      workspace_of[position] = requests.size();
      requests.push_back({program_.infos_[position].workspace_bytes, position, position});
    }

    const BufferPlacement placement = place_buffers(requests);
    program_.arena_bytes_ = placement.total_bytes;
    for (ValueId id = 0; id < places_.size(); ++id) {
      if (in_arena(id)) {
        places_[id] = {Program::Place::Kind::kArena, placement.offsets[request_of[id]], 0};
      }
    }
    for (std::size_t position = 0; position < order_.size(); ++position) {
      Program::Node& node = program_.nodes_[position];
      node.workspace_offset = placement.offsets[workspace_of[position]];
      for (const ValueId id : op_at(position).inputs) {
        node.inputs.push_back(places_[id]);
      }
      for (const ValueId id : op_at(position).outputs) {
        node.outputs.push_back(places_[id]);
      }
    }
  }

  const Graph& original_;
  const Backend& backend_;
  const CompileOptions& options_;
  Program program_;
  std::vector<OpId> order_;
  std::size_t first_step_ = 0;
  std::vector<Program::Place> places_;
};

Result<Program> compile(const Graph& graph, const Backend& backend, const CompileOptions& options) {
  return Compiler(graph, backend, options).run();
}

}  // namespace mezzotint
