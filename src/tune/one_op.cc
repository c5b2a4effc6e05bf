#include "tune/one_op.h"

#include <fmt/format.h>

#include <map>
#include <utility>

namespace mezzotint {
namespace {

// Copies values and ops under names that count up.
class Renamer {
 public:
  explicit Renamer(std::string prefix) : prefix_(std::move(prefix)) {}

  // An input that stands for `value`; once, however often the op reads it.
  ValueId input(Graph& graph, ValueId id, const Value& value, Rate rate) {
    if (const auto found = ids_.find(id); found != ids_.end()) {
      return found->second;
    }
    const std::string name = fmt::format("{}{}", prefix_, ids_.size());
    const ValueId copy = value.kind == ValueKind::kParameter
                             ? graph.add_parameter(name, value.type.shape)
                             : graph.add_input(name, value.type, rate);
    ids_[id] = copy;
    return copy;
  }

  [[nodiscard]] ValueId at(ValueId id) const { return ids_.at(id); }
  void set(ValueId id, ValueId copy) { ids_[id] = copy; }

 private:
  std::string prefix_;
  std::map<ValueId, ValueId> ids_;
};

Result<Graph> anonymous_body(const Graph& body) {
  Graph copy;
  Renamer names("x");
  for (const ValueId id : body.inputs()) {
    const Value& value = body.value(id);
    names.input(copy, id, value, value.rate == Rate::kModel ? Rate::kModel : Rate::kStep);
  }
  for (const Op& op : body.ops()) {
    Op renamed = op;
    renamed.name = fmt::format("op{}", copy.ops().size());
    for (ValueId& input : renamed.inputs) {
      input = names.at(input);
    }
    const auto added = copy.add_op(std::move(renamed));
    if (!added) {
      return added.error();
    }
    for (std::size_t i = 0; i < op.outputs.size(); ++i) {
      names.set(op.outputs[i], copy.op(*added).outputs[i]);
    }
  }
  for (const ValueId output : body.outputs()) {
    copy.add_output(names.at(output));
  }
  return copy;
}

}  // namespace

Result<Graph> one_op_graph(const OpView& view) {
  Graph graph;
  Renamer names("x");
  Op op = view.op;
  op.name = "op";
  for (ValueId& input : op.inputs) {
    input = names.input(graph, input, view.graph.value(input), Rate::kStep);
  }
  if (op.body != nullptr) {
    auto body = anonymous_body(*op.body);
    if (!body) {
      return body.error();
    }
    op.body = std::make_shared<const Graph>(std::move(*body));
  }
  const auto added = graph.add_op(std::move(op));
  if (!added) {
    return added.error();
  }
  for (const ValueId output : graph.op(*added).outputs) {
    graph.add_output(output);
  }
  return graph;
}

}  // namespace mezzotint
