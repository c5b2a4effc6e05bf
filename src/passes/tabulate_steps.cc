#include <algorithm>
#include <map>

#include "base/check.h"
#include "passes/passes.h"
#include "passes/rewriter.h"

namespace mezzotint {
namespace {

// Ops whose row i of the result follows from row i of input 0 and from weights, however many rows
// there are.
bool is_row_wise(OpKind kind) {
  return kind == OpKind::linear || kind == OpKind::silu || kind == OpKind::timestep_embedding;
}

std::vector<Value> retyped_inputs(const Graph& graph, ValueId t, std::int64_t steps) {
  std::vector<Value> inputs;
  for (const ValueId id : graph.inputs()) {
    inputs.push_back(graph.value(id));
    if (id == t) {
      inputs.back().type.shape = Shape{steps};
      inputs.back().rate = Rate::kVolume;
    }
  }
  return inputs;
}

class Tabulator {
 public:
  Tabulator(const Graph& graph, ValueId t, std::int64_t steps)
      : graph_(graph),
        rewriter_(graph, retyped_inputs(graph, t, steps)),
        step_(rewriter_.target().add_input(
            "step", {graph.value(t).type.shape, DType::kI32, Layout::kRowMajor}, Rate::kStep)),
        tabulated_(graph.values().size(), false) {
    tabulated_[t] = true;
  }

  Result<Graph> run() && {
    for (const Op& op : graph_.ops()) {
      const Status status = moves(op) ? move(op) : keep(op);
      if (!status) {
        return status.error();
      }
    }
    return std::move(rewriter_).finish();
  }

 private:
  // An output stays what it was for the caller: a row.
  bool moves(const Op& op) const {
    const auto is_weight = [&](ValueId id) {
      return graph_.value(id).kind == ValueKind::kParameter;
    };
    const auto outputs = graph_.outputs();
    return is_row_wise(op.kind) && tabulated_[op.inputs[0]] &&
           std::all_of(op.inputs.begin() + 1, op.inputs.end(), is_weight) &&
           std::find(outputs.begin(), outputs.end(), op.outputs[0]) == outputs.end();
  }

  Status move(const Op& op) {
    tabulated_[op.outputs[0]] = true;
    return rewriter_.clone(op);
  }

  Status keep(const Op& op) {
    std::vector<ValueId> inputs;
    for (const ValueId id : op.inputs) {
      const auto input = tabulated_[id] ? row_of(id) : rewriter_.at(id);
      if (!input) {
        return input.error();
      }
      inputs.push_back(*input);
    }
    return rewriter_.clone(op, std::move(inputs));
  }

  Result<ValueId> row_of(ValueId table) {
    if (const auto known = rows_.find(table); known != rows_.end()) {
      return known->second;
    }
    auto row = rewriter_.add({OpKind::select_rows,
                              graph_.value(table).name + ".row",
                              {},
                              {rewriter_.at(table), step_},
                              {},
                              nullptr});
    if (row) {
      rows_.emplace(table, *row);
    }
    return row;
  }

  const Graph& graph_;
  Rewriter rewriter_;
  ValueId step_;
  std::vector<bool> tabulated_;
  std::map<ValueId, ValueId> rows_;  // by the table, in the source
};

}  // namespace

Result<Graph> tabulate_steps(const Graph& graph, std::string_view t, std::int64_t steps) {
  const auto id = graph.find_value(t);
  check(id && graph.value(*id).kind == ValueKind::kInput && graph.value(*id).type.shape.rank() == 1,
        "tabulate_steps: the timestep must be an input of rank 1");
  return Tabulator(graph, *id, steps).run();
}

}  // namespace mezzotint
