#include "graph/graph.h"

#include <algorithm>

#include "base/check.h"
#include "base/checked.h"
#include "base/error.h"
#include "base/quote.h"
#include "graph/op_definition.h"

namespace mezzotint {

std::optional<std::int64_t> checked_bytes(const ValueType& type) {
  std::vector<std::int64_t> factors = type.shape.dims();
  factors.push_back(static_cast<std::int64_t>(size_of(type.dtype)));
  return checked_elements(factors);
}

ValueId Graph::add_value(Value value) {
  const auto id = static_cast<ValueId>(values_.size());
  const bool inserted = by_name_.emplace(value.name, id).second;
  check(inserted, "two values share a name");
  values_.push_back(std::move(value));
  return id;
}

ValueId Graph::add_input(std::string name, ValueType type, Rate rate) {
  const ValueId id =
      add_value({std::move(name), std::move(type), ValueKind::kInput, rate, /*producer=*/0});
  inputs_.push_back(id);
  return id;
}

ValueId Graph::add_parameter(std::string name, Shape shape) {
  const ValueId id = add_value({std::move(name),
                                {std::move(shape), DType::kF32, Layout::kRowMajor},
                                ValueKind::kParameter,
                                Rate::kModel,
                                /*producer=*/0});
  parameters_.push_back(id);
  return id;
}

Result<OpId> Graph::add_op(Op op) {
  OpInputs inputs{op, {}};
  Rate rate = Rate::kModel;
  for (const ValueId id : op.inputs) {
    inputs.values.push_back(&value(id));
    rate = std::max(rate, value(id).rate);
  }
  auto types = infer_types(inputs);
  if (!types) {
    return invalid_input("op {} ({}): {}", in_quotes(op.name), name_of(op.kind),
                         types.error().message);
  }
  const auto id = static_cast<OpId>(ops_.size());
  op.outputs.clear();
  for (std::size_t i = 0; i < types->size(); ++i) {
    ValueType& type = (*types)[i];
    std::string name = i == 0 ? op.name : fmt::format("{}:{}", op.name, i);
    op.outputs.push_back(
        add_value({std::move(name), std::move(type), ValueKind::kResult, rate, id}));
  }
  ops_.push_back(std::move(op));
  return id;
}

std::optional<ValueId> Graph::find_value(std::string_view name) const {
  if (const auto found = by_name_.find(name); found != by_name_.end()) {
    return found->second;
  }
  if (const auto found = aliases_.find(name); found != aliases_.end()) {
    return found->second;
  }
  return std::nullopt;
}

std::vector<int> use_counts(const Graph& graph) {
  std::vector<int> counts(graph.values().size(), 0);
  for (const Op& op : graph.ops()) {
    for (const ValueId id : op.inputs) {
      ++counts[id];
    }
  }
  for (const ValueId id : graph.outputs()) {
    ++counts[id];
  }
  return counts;
}

}  // namespace mezzotint
