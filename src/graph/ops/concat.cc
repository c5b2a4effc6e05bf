// concat(a, b, ...): joined along axis 1 (channels).
#include "base/checked.h"
#include "base/error.h"
#include "graph/op_definition.h"

namespace mezzotint {
namespace {

Result<std::vector<ValueType>> infer(const OpInputs& inputs) {
  if (Status status = expect_inputs(inputs, 1, 64); !status) {
    return status.error();
  }
  ValueType type = inputs.type(0);
  if (type.shape.rank() < 2) {
    return invalid_input("input 0 is {}, expected rank 2 or more", type.shape.to_string());
  }
  std::int64_t channels = 0;
  for (std::size_t i = 0; i < inputs.values.size(); ++i) {
    ValueType other = inputs.type(i);
    if (other.shape.rank() != type.shape.rank() ||
        other.shape.with(1, 0) != type.shape.with(1, 0) || other.dtype != type.dtype ||
        other.layout != type.layout) {
      return invalid_input("input {} is {}, expected {} but for the channels", i,
                           other.shape.to_string(), type.shape.to_string());
    }
    const auto sum = checked_sum(channels, other.shape[1]);
    if (!sum) {
      return too_large(inputs);
    }
    channels = *sum;
  }
  type.shape = type.shape.with(1, channels);
  return std::vector{type};
}

double flops(const OpView&) {
  return 0.0;
}

}  // namespace

extern const OpDefinition concat_definition;
const OpDefinition concat_definition{OpKind::concat, infer, flops};

}  // namespace mezzotint
