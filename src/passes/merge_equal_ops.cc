#include <algorithm>

#include "passes/passes.h"
#include "passes/rewriter.h"

namespace mezzotint {
namespace {

// Outputs are memory of their own: each needs an op that writes it.
bool makes_output(const Graph& graph, const Op& op) {
  return std::ranges::any_of(
      op.outputs, [&](ValueId id) { return std::ranges::count(graph.outputs(), id) != 0; });
}

// An op made before that computes the same. Regions are left alone.
const Op* find_equal(const Graph& made, const Op& op) {
  const auto ops = made.ops();
  const auto found = std::ranges::find_if(ops, [&](const Op& other) {
    return other.kind == op.kind && other.inputs == op.inputs &&
           other.attributes == op.attributes && other.body == nullptr && op.body == nullptr;
  });
  return found == ops.end() ? nullptr : &*found;
}

}  // namespace

Result<Graph> merge_equal_ops(const Graph& graph) {
  Rewriter rewriter(graph);
  for (const Op& op : graph.ops()) {
    Op moved = op;
    for (ValueId& id : moved.inputs) {
      id = rewriter.at(id);
    }
    const Op* equal = makes_output(graph, op) ? nullptr : find_equal(rewriter.target(), moved);
    if (equal == nullptr) {
      if (Status status = rewriter.clone(op, std::move(moved.inputs)); !status) {
        return status.error();
      }
      continue;
    }
    for (std::size_t i = 0; i < op.outputs.size(); ++i) {
      rewriter.map(op.outputs[i], equal->outputs[i]);
    }
  }
  return std::move(rewriter).finish();
}

}  // namespace mezzotint
