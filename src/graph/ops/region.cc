// region(...): stands for the ops of its body, to be computed as one. Inputs and outputs correspond
// to the body's, in order.
#include "base/error.h"
#include "graph/op_definition.h"

namespace mezzotint {
namespace {

Result<std::vector<ValueType>> infer(const OpInputs& inputs) {
  if (inputs.op.body == nullptr) {
    return invalid_input("has no body");
  }
  const Graph& body = *inputs.op.body;
  if (Status status = expect_inputs(inputs, body.inputs().size(), body.inputs().size()); !status) {
    return status.error();
  }
  for (std::size_t i = 0; i < body.inputs().size(); ++i) {
    const Value& inner = body.value(body.inputs()[i]);
    if (inner.type != inputs.type(i)) {
      return invalid_input("input {} is {}, its body expects {}", i, inputs.shape(i).to_string(),
                           inner.type.shape.to_string());
    }
  }
  std::vector<ValueType> types;
  for (const ValueId id : body.outputs()) {
    types.push_back(body.value(id).type);
  }
  return types;
}

double flops(const OpView& view) {
  double total = 0;
  for (const Op& op : view.op.body->ops()) {
    total += flops_of({*view.op.body, op});
  }
  return total;
}

}  // namespace

extern const OpDefinition region_definition;
const OpDefinition region_definition{OpKind::region, infer, flops};

}  // namespace mezzotint
