#include "runtime/explain.h"

#include <algorithm>
#include <iterator>

#include "runtime/lower.h"

namespace mezzotint {
namespace {

// Such ops compute little and move much. A rank below 5 is a vector or a table, not an activation.
bool only_passes_over_memory(const OpView& view) {
  constexpr OpKind kKinds[] = {
      OpKind::add,    OpKind::add_channels, OpKind::affine, OpKind::channel_moments,
      OpKind::concat, OpKind::reorder,      OpKind::silu,   OpKind::upsample_trilinear};
  return std::ranges::find(kKinds, view.op.kind) != std::end(kKinds) &&
         view.input(0).type.shape.rank() == 5;
}

}  // namespace

Result<ProgramExplanation> explain(const Graph& graph, const Backend& backend,
                                   const CompileOptions& options) {
  auto lowered = lower(graph, backend, options);
  if (!lowered) {
    return lowered.error();
  }
  if (Status status = check_plan(options.plan, graph, *lowered); !status) {
    return status.error();
  }
  ProgramExplanation explanation;
  for (const Op& op : lowered->graph.ops()) {
    const OpView view{lowered->graph, op};
    if (view.output().rate == Rate::kStep && only_passes_over_memory(view)) {
      Unfused unfused{op.name, op.kind, {}};
      std::ranges::copy_if(lowered->declined, std::back_inserter(unfused.declined),
                           [&](const Declined& declined) { return declined.op == op.name; });
      explanation.unfused.push_back(std::move(unfused));
    }
  }
  explanation.ops = std::move(lowered->ops);
  return explanation;
}

}  // namespace mezzotint
