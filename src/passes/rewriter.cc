#include "passes/rewriter.h"

#include "base/check.h"

namespace mezzotint {

Rewriter::Rewriter(const Graph& source) : source_(source), map_(source.values().size()) {
  for (const ValueId id : source.inputs()) {
    const Value& value = source.value(id);
    map(id, target_.add_input(value.name, value.type, value.rate));
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
  Op copy = op;
  for (ValueId& id : copy.inputs) {
    id = at(id);
  }
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
