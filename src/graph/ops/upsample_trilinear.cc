// upsample_trilinear(x [N, C, D, H, W]): twice the size on each axis, linear per axis with
// half-pixel centres (align_corners = false): source = (i + 0.5) / 2 - 0.5, clamped to the volume.
#include "base/checked.h"
#include "graph/op_definition.h"

namespace mezzotint {
namespace {

Result<std::vector<ValueType>> infer(const OpInputs& inputs) {
  if (Status status = expect_inputs(inputs, 1, 1); !status) {
    return status.error();
  }
  if (Status status = expect_rank(inputs, 0, 5); !status) {
    return status.error();
  }
  ValueType type = inputs.type(0);
  for (const std::size_t axis : {2u, 3u, 4u}) {
    const auto twice = checked_sum(type.shape[axis], type.shape[axis]);
    if (!twice) {
      return too_large(inputs);
    }
    type.shape = type.shape.with(axis, *twice);
  }
  return std::vector{type};
}

// Separable: three passes of a multiply and a multiply-add.
double flops(const OpView& view) {
  return 9.0 * static_cast<double>(view.output().type.shape.elements());
}

}  // namespace

extern const OpDefinition upsample_trilinear_definition;
const OpDefinition upsample_trilinear_definition{OpKind::upsample_trilinear, infer, flops};

}  // namespace mezzotint
