// channel_moments(x [N, C, ...]): mean and population variance over the positions of each channel,
// float64 [N, C, 2].
#include "base/error.h"
#include "graph/op_definition.h"

namespace mezzotint {
namespace {

Result<std::vector<ValueType>> infer(const OpInputs& inputs) {
  if (Status status = expect_inputs(inputs, 1, 1); !status) {
    return status.error();
  }
  const Shape& x = inputs.shape(0);
  if (x.rank() < 3) {
    return invalid_input("x is {}, expected [N, C, positions...]", x.to_string());
  }
  return std::vector{ValueType{Shape{x[0], x[1], 2}, DType::kF64, Layout::kRowMajor}};
}

double flops(const OpView& view) {
  return 3.0 * static_cast<double>(view.input(0).type.shape.elements());
}

}  // namespace

extern const OpDefinition channel_moments_definition;
const OpDefinition channel_moments_definition{OpKind::channel_moments, infer, flops};

}  // namespace mezzotint
