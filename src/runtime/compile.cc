#include "runtime/compile.h"

#include <algorithm>

#include "base/check.h"
#include "graph/op_definition.h"
#include "runtime/arrangement.h"
#include "runtime/lower.h"
#include "runtime/memory_price.h"
#include "runtime/selection.h"

namespace mezzotint {

// Builds one Program.
class Compiler {
 public:
  Compiler(const Graph& original, const Backend& backend, const CompileOptions& options)
      : original_(original), backend_(backend), options_(options) {}

  // Under a memory limit that regions as grown do not meet, memory gets dearer until they do: a
  // region that fuses less may be computed in ways that hold less.
  Result<Program> run() {
    const std::span<const double> prices = memory_prices();
    double least_price = prices.front();
    for (;;) {
      const auto lowered = lower(original_, backend_, options_, least_price);
      if (!lowered) {
        return lowered.error();
      }
      if (Status status = check_plan(options_.plan, original_, *lowered); !status) {
        return status.error();
      }
      auto selection = Selection::make(*lowered, backend_, options_);
      if (!selection) {
        return selection.error();
      }
      auto arrangement = arrange_within_limit(lowered->graph, *selection);
      if (!arrangement) {
        return arrangement.error();
      }
      const auto dearer = std::ranges::upper_bound(prices, lowered->memory_price);
      if (fits(*selection, *arrangement) || dearer == prices.end()) {
        return build(*lowered, *selection, *arrangement);
      }
      least_price = *dearer;
    }
  }

 private:
  Program build(const Lowered& lowered, Selection& selection, Arrangement& arrangement) {
    place_externals(arrangement.graph);
    add_nodes(lowered.graph, arrangement, selection);
    for (OpId id = 0; id < lowered.graph.ops().size(); ++id) {
      program_.kernels_.push_back(selection.take_kernel(id));
    }
    program_.layout_ = options_.plan.layout;
    program_.arena_bytes_ = arrangement.arena_bytes;
    program_.graph_ = std::move(arrangement.graph);
    return std::move(program_);
  }

  [[nodiscard]] bool fits(const Selection& selection, const Arrangement& arrangement) const {
    return !options_.memory_limit ||
           selection.peak_bytes(arrangement.arena_bytes) <= *options_.memory_limit;
  }

  Result<Arrangement> arrange_within_limit(const Graph& lowered, Selection& selection) const {
    auto arrangement = arrange(lowered, selection.needs());
    while (arrangement && !fits(selection, *arrangement) &&
           selection.shrink(*arrangement, *options_.memory_limit)) {
      arrangement = arrange(lowered, selection.needs());
    }
    return arrangement;
  }

  // Inputs and outputs are the caller's memory, under the names of the graph before lowering.
  void place_externals(const Graph& graph) {
    places_.assign(graph.values().size(), {});
    const auto add = [&](ValueId id, std::string name) {
      for (const Program::External& other : program_.externals_) {
        check(other.name != name, "two inputs or outputs of a program have one name");
      }
      places_[id] = {Program::Place::Kind::kExternal, 0, program_.externals_.size()};
      program_.externals_.push_back(
          {std::move(name), static_cast<std::size_t>(graph.value(id).type.bytes())});
    };
    for (const ValueId id : graph.inputs()) {
      add(id, graph.value(id).name);
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
    check(graph.outputs().size() == names.size(), "lowering changed the number of outputs");
    for (std::size_t i = 0; i < names.size(); ++i) {
      add(graph.outputs()[i], names[i]);
    }
  }

  // In the order of running.
  void add_nodes(const Graph& lowered, const Arrangement& arrangement, const Selection& selection) {
    const Graph& graph = arrangement.graph;
    const std::vector<bool> in_arena = arena_values(graph);
    for (ValueId id = 0; id < places_.size(); ++id) {
      if (in_arena[id]) {
        places_[id] = {Program::Place::Kind::kArena, arrangement.values[id], 0};
      }
    }
    for (std::size_t position = 0; position < arrangement.order.ops.size(); ++position) {
      const OpId id = arrangement.order.ops[position];
      const OpView view{graph, graph.op(id)};
      Program::Node node{id, arrangement.origin[id], {}, {}, arrangement.workspaces[position]};
      for (const ValueId input : view.op.inputs) {
        node.inputs.push_back(places_[input]);
      }
      for (const ValueId output : view.op.outputs) {
        node.outputs.push_back(places_[output]);
      }
      const Selection::Option& chosen = selection.chosen(node.kernel);
      const bool is_repeated = view.op.name != lowered.op(node.kernel).name;
      program_.infos_.push_back(
          {view.op.name, view.op.kind, std::string(chosen.implementation->name()), is_repeated,
           view.output().rate, flops_of(view), bytes_of(view),
           chosen.implementation->work(view, options_.target()), chosen.predicted_seconds,
           is_repeated ? 0 : chosen.kernel->packed_bytes(), chosen.kernel->workspace_bytes(),
           arrangement.live.bytes[position], chosen.implementation->error_growth(view),
           chosen.kernel->kernels()});
      program_.nodes_.push_back(std::move(node));
    }
  }

  const Graph& original_;
  const Backend& backend_;
  const CompileOptions& options_;
  Program program_;
  std::vector<Program::Place> places_;  // by ValueId
};

Result<Program> compile(const Graph& graph, const Backend& backend, const CompileOptions& options) {
  return Compiler(graph, backend, options).run();
}

}  // namespace mezzotint
