// silu(x): x * sigmoid(x) (Elfwing et al., Neural Networks 2018).
#include "graph/op_definition.h"

namespace mezzotint {
namespace {

Result<std::vector<ValueType>> infer(const OpInputs& inputs) {
  if (Status status = expect_inputs(inputs, 1, 1); !status) {
    return status.error();
  }
  return std::vector{inputs.type(0)};
}

double flops(const OpView& view) {
  return 4.0 * static_cast<double>(view.output().type.shape.elements());
}

}  // namespace

extern const OpDefinition silu_definition;
const OpDefinition silu_definition{OpKind::silu, infer, flops};

}  // namespace mezzotint
