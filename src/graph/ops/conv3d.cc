// conv3d(x [N, Cin, D, H, W], weight [Cout, Cin, kd, kh, kw] [, bias [Cout]]) {stride, padding}:
// cross-correlation with zero padding. The result's extent is (in + 2 padding - k) / stride + 1.
#include "base/checked.h"
#include "base/error.h"
#include "graph/op_definition.h"

namespace mezzotint {
namespace {

Result<std::vector<ValueType>> infer(const OpInputs& inputs) {
  if (Status status = expect_inputs(inputs, 2, 3); !status) {
    return status.error();
  }
  for (const std::size_t i : {0u, 1u}) {
    if (Status status = expect_rank(inputs, i, 5); !status) {
      return status.error();
    }
  }
  const Shape& x = inputs.shape(0);
  const Shape& weight = inputs.shape(1);
  if (weight[1] != x[1]) {
    return invalid_input("weight {} is for {} input channels, x {} has {}", weight.to_string(),
                         weight[1], x.to_string(), x[1]);
  }
  if (inputs.values.size() == 3 && inputs.shape(2) != Shape{weight[0]}) {
    return invalid_input("bias must be [{}], was {}", weight[0], inputs.shape(2).to_string());
  }
  const std::int64_t stride = inputs.op.attributes.integer("stride", 1);
  const std::int64_t padding = inputs.op.attributes.integer("padding", 0);
  ValueType type = inputs.type(0);
  type.shape = x.with(1, weight[0]);
  for (const std::size_t axis : {2u, 3u, 4u}) {
    const auto padded = checked_sum(x[axis], 2 * padding);
    if (!padded) {
      return too_large(inputs);
    }
    const std::int64_t reach = *padded - weight[axis];
    if (reach < 0) {
      return invalid_input("kernel {} does not fit into x {} with padding {}", weight.to_string(),
                           x.to_string(), padding);
    }
    type.shape = type.shape.with(axis, reach / stride + 1);
  }
  return std::vector{type};
}

double flops(const OpView& view) {
  const Shape& weight = view.input(1).type.shape;
  const double taps = static_cast<double>(weight.elements()) / static_cast<double>(weight[0]);
  return 2.0 * taps * static_cast<double>(view.output().type.shape.elements());
}

constexpr AttributeRule kAttributes[] = {
    {"padding", AttributeType::kInteger, /*least=*/0},
    {"stride", AttributeType::kInteger, /*least=*/1},
};

}  // namespace

extern const OpDefinition conv3d_definition;
const OpDefinition conv3d_definition{OpKind::conv3d, infer, flops, kAttributes};

}  // namespace mezzotint
