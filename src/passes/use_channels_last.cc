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

bool is_row_major_activation(const ValueType& type) {
  return type.shape.rank() == 5 && type.layout == Layout::kRowMajor;
}

// Channels last where that moves nothing.
std::vector<Value> inputs_of(const Graph& graph) {
  std::vector<Value> inputs;
  for (const ValueId id : graph.inputs()) {
    Value input = graph.value(id);
    if (is_row_major_activation(input.type) &&
        same_order(input.type.shape, Layout::kRowMajor, Layout::kChannelsLast)) {
      input.type.layout = Layout::kChannelsLast;
    }
    inputs.push_back(std::move(input));
  }
  return inputs;
}

}  // namespace

Result<Graph> use_channels_last(const Graph& graph) {
  Rewriter rewriter(graph, inputs_of(graph));
  for (const ValueId id : graph.inputs()) {
    if (is_row_major_activation(rewriter.target().value(rewriter.at(id)).type)) {
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
  // The caller sees its own order.
  for (const ValueId id : graph.outputs()) {
    const ValueType& wanted = graph.value(id).type;
    const ValueId made = rewriter.at(id);
    const Layout layout = rewriter.target().value(made).type.layout;
    if (!same_order(wanted.shape, wanted.layout, layout)) {
      const auto reordered = reorder(rewriter, made, wanted.layout);
      if (!reordered) {
        return reordered.error();
      }
      rewriter.map(id, *reordered);
    }
  }
  return std::move(rewriter).finish();
}

}  // namespace mezzotint
