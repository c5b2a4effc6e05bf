#include "passes/passes.h"
#include "passes/rewriter.h"

namespace mezzotint {

Result<Graph> remove_dead_ops(const Graph& graph) {
  std::vector<bool> live(graph.values().size(), false);
  for (const ValueId id : graph.outputs()) {
    live[id] = true;
  }
  std::vector<bool> keep(graph.ops().size(), false);
  for (OpId id = static_cast<OpId>(graph.ops().size()); id-- > 0;) {
    const Op& op = graph.op(id);
    for (const ValueId output : op.outputs) {
      keep[id] = keep[id] || live[output];
    }
    if (keep[id]) {
      for (const ValueId input : op.inputs) {
        live[input] = true;
      }
    }
  }
  Rewriter rewriter(graph);
  for (OpId id = 0; id < graph.ops().size(); ++id) {
    if (!keep[id]) {
      continue;
    }
    if (Status status = rewriter.clone(graph.op(id)); !status) {
      return status.error();
    }
  }
  return std::move(rewriter).finish();
}

}  // namespace mezzotint
