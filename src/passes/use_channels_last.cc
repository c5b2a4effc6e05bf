#include <fmt/format.h>

#include "passes/passes.h"
#include "passes/rewriter.h"

namespace mezzotint {
namespace {

Result<ValueId> reorder(Rewriter& rewriter, ValueId value, Layout layout) {
  const std::string name =
      fmt::format("{}.{}", rewriter.target().value(value).name, name_of(layout));
  return rewriter.add({OpKind::reorder,
                       name,
                       Attributes{{"layout", std::string(name_of(layout))}},
                       {value},
                       {},
                       nullptr});
}

bool is_row_major_activation(const Value& value) {
  return value.type.shape.rank() == 5 && value.type.layout == Layout::kRowMajor;
}

}  // namespace

Result<Graph> use_channels_last(const Graph& graph) {
  Rewriter rewriter(graph);
  for (const ValueId id : graph.inputs()) {
    if (is_row_major_activation(graph.value(id))) {
      const auto reordered = reorder(rewriter, rewriter.at(id), Layout::kChannelsLast);
      if (!reordered) {
        return reordered.error();
      }
      rewriter.map(id, *reordered);
    }
  }
  for (const Op& op : graph.ops()) {
    if (Status status = rewriter.clone(op); !status) {
      return status.error();
    }
  }
  // The caller sees its own layout.
  for (const ValueId id : graph.outputs()) {
    const ValueId made = rewriter.at(id);
    if (graph.value(id).type.layout != rewriter.target().value(made).type.layout) {
      const auto reordered = reorder(rewriter, made, graph.value(id).type.layout);
      if (!reordered) {
        return reordered.error();
      }
      rewriter.map(id, *reordered);
    }
  }
  return std::move(rewriter).finish();
}

}  // namespace mezzotint
