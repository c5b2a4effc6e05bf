// add(a, b): element-wise sum of two values of one type.
#include "base/error.h"
#include "graph/op_definition.h"

namespace mezzotint {
namespace {

Result<std::vector<ValueType>> infer(const OpInputs& inputs) {
  if (Status status = expect_inputs(inputs, 2, 2); !status) {
    return status.error();
  }
  if (inputs.type(0) != inputs.type(1)) {
    return invalid_input("operands must have one type, were {} ({}) and {} ({})",
                         inputs.shape(0).to_string(), name_of(inputs.type(0).layout),
                         inputs.shape(1).to_string(), name_of(inputs.type(1).layout));
  }
  return std::vector{inputs.type(0)};
}

double flops(const OpView& view) {
  return static_cast<double>(view.output().type.shape.elements());
}

}  // namespace

extern const OpDefinition add_definition;
const OpDefinition add_definition{OpKind::add, infer, flops};

}  // namespace mezzotint
