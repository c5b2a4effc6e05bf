#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "passes/passes.h"
#include "passes/rewriter.h"

namespace mezzotint {
namespace {

bool is_activation(const Value& value) {
  return value.kind != ValueKind::kParameter && value.type.shape.rank() == 5;
}

// Of input `i`; nothing: as it comes.
std::optional<Layout> wanted_layout(const Op& op, std::size_t i, const LayoutOf& layout_of) {
  if (op.kind == OpKind::reorder) {
    return std::nullopt;
  }
  if (op.body != nullptr) {
    return op.body->value(op.body->inputs()[i]).type.layout;
  }
  return layout_of(op);
}

// Inputs whose order is the same in either layout, in that of their first reader.
std::vector<Value> inputs_of(const Graph& graph, const LayoutOf& layout_of) {
  std::vector<Value> inputs;
  for (const ValueId id : graph.inputs()) {
    Value& input = inputs.emplace_back(graph.value(id));
    if (!is_activation(input) ||
        !same_order(input.type.shape, Layout::kRowMajor, Layout::kChannelsLast)) {
      continue;
    }
    const auto reader = std::ranges::find_if(
        graph.ops(), [&](const Op& op) { return std::ranges::count(op.inputs, id) != 0; });
    if (reader != graph.ops().end()) {
      const auto place = std::ranges::find(reader->inputs, id) - reader->inputs.begin();
      input.type.layout = wanted_layout(*reader, static_cast<std::size_t>(place), layout_of)
                              .value_or(input.type.layout);
    }
  }
  return inputs;
}

class LayoutAssigner {
 public:
  LayoutAssigner(const Graph& graph, const LayoutOf& layout_of)
      : rewriter_(graph, inputs_of(graph, layout_of)), layout_of_(layout_of) {}

  Result<Graph> run() && {
    for (const Op& op : rewriter_.source().ops()) {
      if (Status status = assign(op); !status) {
        return status.error();
      }
    }
    for (const ValueId id : rewriter_.source().outputs()) {
      if (Status status = restore(id); !status) {
        return status.error();
      }
    }
    return std::move(rewriter_).finish();
  }

 private:
  Status assign(const Op& op) {
    std::vector<ValueId> inputs;
    for (std::size_t i = 0; i < op.inputs.size(); ++i) {
      const auto layout = wanted_layout(op, i, layout_of_);
      const auto input =
          layout ? in_layout(op.inputs[i], *layout) : Result(rewriter_.at(op.inputs[i]));
      if (!input) {
        return input.error();
      }
      inputs.push_back(*input);
    }
    return rewriter_.clone(op, std::move(inputs));
  }

  // The caller sees its own order.
  Status restore(ValueId id) {
    const ValueType& wanted = rewriter_.source().value(id).type;
    const Layout made = rewriter_.target().value(rewriter_.at(id)).type.layout;
    if (same_order(wanted.shape, wanted.layout, made)) {
      return {};
    }
    const auto reordered = in_layout(id, wanted.layout);
    if (!reordered) {
      return reordered.error();
    }
    rewriter_.map(id, *reordered);
    return {};
  }

  // The target value that stands for `id` in this layout, as it was made or by its one reorder.
  Result<ValueId> in_layout(ValueId id, Layout layout) {
    const ValueId made = rewriter_.at(id);
    const Value& value = rewriter_.target().value(made);
    if (!is_activation(value) || value.type.layout == layout) {
      return made;
    }
    if (const auto known = reordered_.find({id, layout}); known != reordered_.end()) {
      return known->second;
    }
    Op op{OpKind::reorder,
          fmt::format("{}.{}", value.name, name_of(layout)),
          Attributes{{"layout", std::string(name_of(layout))}},
          {made},
          {},
          nullptr};
    auto reordered = rewriter_.add(std::move(op));
    if (reordered) {
      reordered_[{id, layout}] = *reordered;
    }
    return reordered;
  }

  Rewriter rewriter_;
  const LayoutOf& layout_of_;
  std::map<std::pair<ValueId, Layout>, ValueId> reordered_;
};

}  // namespace

Result<Graph> assign_layouts(const Graph& graph, const LayoutOf& layout_of) {
  return LayoutAssigner(graph, layout_of).run();
}

}  // namespace mezzotint
