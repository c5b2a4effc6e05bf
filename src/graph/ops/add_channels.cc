// add_channels(x [N, C, ...], v [N, C]): v added to every position of its channel.
#include "base/error.h"
#include "graph/op_definition.h"

namespace mezzotint {
namespace {

Result<std::vector<ValueType>> infer(const OpInputs& inputs) {
  if (Status status = expect_inputs(inputs, 2, 2); !status) {
    return status.error();
  }
  const Shape& x = inputs.shape(0);
  if (x.rank() < 2 || inputs.shape(1) != Shape{x[0], x[1]}) {
    return invalid_input("x is {}, so v must be [N, C] of it, was {}", x.to_string(),
                         inputs.shape(1).to_string());
  }
  return std::vector{inputs.type(0)};
}

double flops(const OpView& view) {
  return static_cast<double>(view.output().type.shape.elements());
}

}  // namespace

extern const OpDefinition add_channels_definition;
const OpDefinition add_channels_definition{OpKind::add_channels, infer, flops};

}  // namespace mezzotint
