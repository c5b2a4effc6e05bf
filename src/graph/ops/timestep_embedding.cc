// timestep_embedding(t [N]) {dim, max_period}: [cos(t f_i)..., sin(t f_i)..., 0 if dim is odd] with
// f_i = max_period^(-i / half), half = dim / 2. Result [N, dim].
#include "base/error.h"
#include "graph/op_definition.h"

namespace mezzotint {
namespace {

Result<std::vector<ValueType>> infer(const OpInputs& inputs) {
  if (Status status = expect_inputs(inputs, 1, 1); !status) {
    return status.error();
  }
  if (Status status = expect_rank(inputs, 0, 1); !status) {
    return status.error();
  }
  const std::int64_t dim = inputs.op.attributes.integer("dim", 0);
  if (dim == 0) {
    return invalid_input("attribute `dim` is missing");
  }
  return std::vector{ValueType{Shape{inputs.shape(0)[0], dim}, DType::kF32, Layout::kRowMajor}};
}

double flops(const OpView& view) {
  return 2.0 * static_cast<double>(view.output().type.shape.elements());
}

constexpr AttributeRule kAttributes[] = {
    {"dim", AttributeType::kInteger, /*least=*/1},
    {"max_period", AttributeType::kReal},
};

}  // namespace

extern const OpDefinition timestep_embedding_definition;
const OpDefinition timestep_embedding_definition{OpKind::timestep_embedding, infer, flops,
                                                 kAttributes};

}  // namespace mezzotint
