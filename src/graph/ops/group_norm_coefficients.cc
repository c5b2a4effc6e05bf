// group_norm_coefficients(moments float64 [N, C, 2], weight [C], bias [C]) {groups, eps}: the
// (scale, shift) per channel, float32 [N, C, 2], that make GroupNorm an affine map (Wu & He, ECCV
// 2018): scale = weight / sqrt(var_group + eps), shift = bias - mean_group * scale.
#include "base/error.h"
#include "graph/op_definition.h"

namespace mezzotint {
namespace {

Result<std::vector<ValueType>> infer(const OpInputs& inputs) {
  if (Status status = expect_inputs(inputs, 3, 3); !status) {
    return status.error();
  }
  const Shape& moments = inputs.shape(0);
  const std::int64_t groups = inputs.op.attributes.integer("groups", 1);
  if (moments.rank() != 3 || moments[2] != 2 || inputs.type(0).dtype != DType::kF64) {
    return invalid_input("moments must be float64 [N, C, 2], were {} {}",
                         name_of(inputs.type(0).dtype), moments.to_string());
  }
  if (moments[1] % groups != 0) {
    return invalid_input("{} channels cannot be divided into {} groups", moments[1], groups);
  }
  for (const std::size_t i : {1u, 2u}) {
    if (inputs.shape(i) != Shape{moments[1]}) {
      return invalid_input("{} must be [{}], was {}", i == 1 ? "weight" : "bias", moments[1],
                           inputs.shape(i).to_string());
    }
  }
  return std::vector{ValueType{moments, DType::kF32, Layout::kRowMajor}};
}

double flops(const OpView& view) {
  return 10.0 * static_cast<double>(view.output().type.shape.elements());
}

constexpr AttributeRule kAttributes[] = {
    {"eps", AttributeType::kReal},
    {"groups", AttributeType::kInteger, /*least=*/1},
};

}  // namespace

extern const OpDefinition group_norm_coefficients_definition;
const OpDefinition group_norm_coefficients_definition{OpKind::group_norm_coefficients, infer, flops,
                                                      kAttributes};

}  // namespace mezzotint
