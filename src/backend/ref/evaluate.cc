#include "backend/ref/evaluate.h"

#include "backend/ref/memory.h"
#include "backend/ref/pointwise.h"
#include "base/error.h"

namespace mezzotint::ref {
namespace {

class TensorElements : public Elements {
 public:
  TensorElements(const Op& op, const std::vector<RefTensor>& values) : op_(op), values_(values) {}

  double input(std::size_t i, const std::int64_t* index) const override {
    const RefTensor& tensor = values_[op_.inputs[i]];
    return tensor
        .data[static_cast<std::size_t>(element_offset(tensor.shape, Layout::kRowMajor, index))];
  }

 private:
  const Op& op_;
  const std::vector<RefTensor>& values_;
};

}  // namespace

Result<std::vector<RefTensor>> evaluate(const Graph& graph, const Bindings& bindings,
                                        const ThreadTeam& team) {
  std::vector<RefTensor> values(graph.values().size());
  for (std::size_t id = 0; id < values.size(); ++id) {
    const Value& value = graph.value(static_cast<ValueId>(id));
    if (value.kind == ValueKind::kResult) {
      continue;
    }
    const auto bound = bindings.find(value.name);
    if (bound == bindings.end()) {
      return invalid_input("{} {} is not bound",
                           value.kind == ValueKind::kInput ? "input" : "parameter", value.name);
    }
    const RefTensor& tensor = bound->second;
    if (tensor.shape != value.type.shape ||
        static_cast<std::int64_t>(tensor.data.size()) != tensor.shape.elements()) {
      return invalid_input("{} is bound to {} elements of shape {}, expected {}", value.name,
                           tensor.data.size(), tensor.shape.to_string(),
                           value.type.shape.to_string());
    }
    values[id] = tensor;
  }
  for (const Op& op : graph.ops()) {
    const OpView view{graph, op};
    const TensorElements elements(op, values);
    for (std::size_t k = 0; k < op.outputs.size(); ++k) {
      RefTensor result{view.output(k).type.shape, {}};
      result.data.resize(static_cast<std::size_t>(result.shape.elements()));
      for_each_element(result.shape, team, [&](std::int64_t flat, const std::int64_t* index) {
        result.data[static_cast<std::size_t>(flat)] = element_at(view, k, index, elements);
      });
      values[op.outputs[k]] = std::move(result);
    }
  }
  return values;
}

}  // namespace mezzotint::ref
