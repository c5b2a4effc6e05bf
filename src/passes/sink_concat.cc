#include <fmt/format.h>

#include "passes/passes.h"
#include "passes/rewriter.h"

namespace mezzotint {
namespace {

const Op* concat_of(const Graph& graph, ValueId id) {
  const Value& value = graph.value(id);
  if (value.kind != ValueKind::kResult) {
    return nullptr;
  }
  const Op& op = graph.op(value.producer);
  return op.kind == OpKind::concat ? &op : nullptr;
}

bool sinks(const Op& op) {
  return op.kind == OpKind::affine || op.kind == OpKind::channel_moments;
}

// `op`, applied to each part of `concat`, then joined under op's own name.
Status sink(Rewriter& rewriter, const Op& op, const Op& concat) {
  std::vector<ValueId> parts;
  std::int64_t channel = op.attributes.integer("channel_offset", 0);
  for (std::size_t i = 0; i < concat.inputs.size(); ++i) {
    Op part{op.kind, fmt::format("{}.{}", op.name, i), op.attributes, {}, {}, nullptr};
    part.inputs.push_back(rewriter.at(concat.inputs[i]));
    if (op.kind == OpKind::affine) {
      part.inputs.push_back(rewriter.at(op.inputs[1]));
      part.attributes.set("channel_offset", channel);
      channel += rewriter.source().value(concat.inputs[i]).type.shape[1];
    }
    const auto made = rewriter.add(std::move(part));
    if (!made) {
      return made.error();
    }
    parts.push_back(*made);
  }
  const auto joined = rewriter.add({OpKind::concat, op.name, {}, std::move(parts), {}, nullptr});
  if (!joined) {
    return joined.error();
  }
  rewriter.map(op.outputs[0], *joined);
  return {};
}

}  // namespace

Result<Graph> sink_concat(const Graph& graph) {
  Rewriter rewriter(graph);
  for (const Op& op : graph.ops()) {
    const Op* concat = sinks(op) ? concat_of(graph, op.inputs[0]) : nullptr;
    const Status status = concat != nullptr ? sink(rewriter, op, *concat) : rewriter.clone(op);
    if (!status) {
      return status.error();
    }
  }
  return remove_dead_ops(std::move(rewriter).finish());
}

}  // namespace mezzotint
