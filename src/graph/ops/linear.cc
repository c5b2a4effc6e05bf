// linear(x [N, in], weight [out, in] [, bias [out]]): x weight^T + bias.
#include "base/error.h"
#include "graph/op_definition.h"

namespace mezzotint {
namespace {

Result<std::vector<ValueType>> infer(const OpInputs& inputs) {
  if (Status status = expect_inputs(inputs, 2, 3); !status) {
    return status.error();
  }
  for (const std::size_t i : {0u, 1u}) {
    if (Status status = expect_rank(inputs, i, 2); !status) {
      return status.error();
    }
  }
  const Shape& x = inputs.shape(0);
  const Shape& weight = inputs.shape(1);
  if (weight[1] != x[1]) {
    return invalid_input("weight {} does not fit x {}", weight.to_string(), x.to_string());
  }
  if (inputs.values.size() == 3 && inputs.shape(2) != Shape{weight[0]}) {
    return invalid_input("bias must be [{}], was {}", weight[0], inputs.shape(2).to_string());
  }
  return std::vector{ValueType{Shape{x[0], weight[0]}, DType::kF32, Layout::kRowMajor}};
}

double flops(const OpView& view) {
  return 2.0 * static_cast<double>(view.input(0).type.shape[0]) *
         static_cast<double>(view.input(1).type.shape.elements());
}

}  // namespace

extern const OpDefinition linear_definition;
const OpDefinition linear_definition{OpKind::linear, infer, flops};

}  // namespace mezzotint
