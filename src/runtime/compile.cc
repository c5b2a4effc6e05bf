#include "runtime/compile.h"

#include <algorithm>

#include "base/check.h"
#include "graph/op_definition.h"
#include "runtime/choices.h"
#include "runtime/lower.h"
#include "runtime/memory_planner.h"

namespace mezzotint {

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
      auto kernel = implementation.prepare(view, options_.target());
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
    // As lower() orders them.
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
