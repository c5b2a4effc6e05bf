// select_rows(table [R, ...], index [N] int32): rows index[0], index[1] ... of the table, each from
// 0 to R - 1. Result [N, ...].
#include "base/error.h"
#include "graph/op_definition.h"

namespace mezzotint {
namespace {

Result<std::vector<ValueType>> infer(const OpInputs& inputs) {
  if (Status status = expect_inputs(inputs, 2, 2); !status) {
    return status.error();
  }
  if (Status status = expect_rank(inputs, 1, 1); !status) {
    return status.error();
  }
  if (inputs.type(1).dtype != DType::kI32) {
    return invalid_input("index must be int32, was {}", name_of(inputs.type(1).dtype));
  }
  ValueType type = inputs.type(0);
  if (type.shape.rank() == 0) {
    return invalid_input("table must have rows, was {}", type.shape.to_string());
  }
  type.shape = type.shape.with(0, inputs.shape(1)[0]);
  return std::vector{type};
}

double flops(const OpView&) {
  return 0.0;
}

}  // namespace

extern const OpDefinition select_rows_definition;
const OpDefinition select_rows_definition{OpKind::select_rows, infer, flops};

}  // namespace mezzotint
