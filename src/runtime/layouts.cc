#include "runtime/layouts.h"

#include <algorithm>
#include <set>
#include <string>

#include "passes/passes.h"
#include "runtime/choices.h"

namespace mezzotint {
namespace {

// Ops that compute in row-major order, as the plan asks.
Result<std::set<std::string>> row_major_ops(const Graph& graph, const Backend& backend,
                                            const CompileOptions& options) {
  const auto row_major = assign_layouts(graph, [](const Op&) { return Layout::kRowMajor; });
  if (!row_major) {
    return row_major.error();
  }
  std::set<std::string> names;
  for (const Op& op : row_major->ops()) {
    if (options.plan.layout_of(op.name) == Layout::kRowMajor &&
        explain_op({*row_major, op}, backend, options.target(),
                   options.plan.implementation_of(op.name), /*memory_price=*/0)
                .chosen() != nullptr) {
      names.insert(op.name);
    }
  }
  return names;
}

}  // namespace

Result<Graph> lay_out(const Graph& graph, const Backend& backend, const CompileOptions& options) {
  const auto row_major = row_major_ops(graph, backend, options);
  if (!row_major) {
    return row_major.error();
  }
  return assign_layouts(graph, [&](const Op& op) {
    return row_major->contains(op.name) ? Layout::kRowMajor : Layout::kChannelsLast;
  });
}

std::optional<Layout> activation_layout(const OpView& view) {
  const Op& op = view.op;
  if (op.body != nullptr) {
    const auto conv = std::ranges::find(op.body->ops(), OpKind::conv3d, &Op::kind);
    return conv == op.body->ops().end() ? std::nullopt : activation_layout({*op.body, *conv});
  }
  if (op.kind == OpKind::reorder) {
    return std::nullopt;
  }
  for (const auto& ids : {op.outputs, op.inputs}) {
    for (const ValueId id : ids) {
      const Value& value = view.graph.value(id);
      if (value.kind != ValueKind::kParameter && value.type.shape.rank() == 5) {
        return value.type.layout;
      }
    }
  }
  return std::nullopt;
}

}  // namespace mezzotint
