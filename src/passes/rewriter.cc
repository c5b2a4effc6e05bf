#include "passes/rewriter.h"

#include "base/check.h"

namespace mezzotint {

namespace {

std::vector<Value> inputs_of(const Graph& graph) {
  std::vector<Value> inputs;
  for (const ValueId id : graph.inputs()) {
    inputs.push_back(graph.value(id));
  }
  return inputs;
}

}  // namespace

Rewriter::Rewriter(const Graph& source) : Rewriter(source, inputs_of(source)) {}

Rewriter::Rewriter(const Graph& source, std::span<const Value> inputs)
    : source_(source), map_(source.values().size()) {
  check(inputs.size() == source.inputs().size(), "a pass changed the number of inputs");
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    map(source.inputs()[i], target_.add_input(inputs[i].name, inputs[i].type, inputs[i].rate));
  }
  for (const ValueId id : source.parameters()) {
    const Value& value = source.value(id);
    map(id, target_.add_parameter(value.name, value.type.shape));
  }
}

ValueId Rewriter::at(ValueId source) const {
  check(map_[source].has_value(), "a pass used a value before it was rewritten");
  return *map_[source];
}

Status Rewriter::clone(const Op& op) {
  std::vector<ValueId> inputs;
  for (const ValueId id : op.inputs) {
    inputs.push_back(at(id));
  }
  return clone(op, std::move(inputs));
}

Status Rewriter::clone(const Op& op, std::vector<ValueId> inputs) {
  Op copy = op;
  copy.inputs = std::move(inputs);
  const auto id = target_.add_op(std::move(copy));
  if (!id) {
    return id.error();
  }
  const Op& made = target_.op(*id);
  check(made.outputs.size() == op.outputs.size(), "a cloned op changed its number of outputs");
  for (std::size_t i = 0; i < op.outputs.size(); ++i) {
    map(op.outputs[i], made.outputs[i]);
  }
  return {};
}

Result<ValueId> Rewriter::add(Op op) {
  const auto id = target_.add_op(std::move(op));
  if (!id) {
    return id.error();
  }
  return target_.op(*id).outputs[0];
}

Graph Rewriter::finish() && {
  for (const ValueId id : source_.outputs()) {
    target_.add_output(at(id));
  }
  for (const auto& [name, id] : source_.aliases()) {
    if (map_[id]) {
      target_.add_alias(name, *map_[id]);
    }
  }
  for (ValueId id = 0; id < source_.values().size(); ++id) {
    const std::string& name = source_.value(id).name;
    if (map_[id] && !target_.find_value(name)) {
      target_.add_alias(name, *map_[id]);
    }
  }
  return std::move(target_);
}

}  // namespace mezzotint
