// affine(x [N, C, ...], coefficients [N, K, 2]) {activation = "none" | "silu", channel_offset = 0}:
// act(x * scale + shift), with (scale, shift) of channel c at coefficients[n, channel_offset + c].
#include "base/error.h"
#include "base/quote.h"
#include "graph/op_definition.h"

namespace mezzotint {
namespace {

Result<std::vector<ValueType>> infer(const OpInputs& inputs) {
  if (Status status = expect_inputs(inputs, 2, 2); !status) {
    return status.error();
  }
  if (Status status = expect_rank(inputs, 1, 3); !status) {
    return status.error();
  }
  const Shape& x = inputs.shape(0);
  const Shape& coefficients = inputs.shape(1);
  const std::int64_t offset = inputs.op.attributes.integer("channel_offset", 0);
  if (x.rank() < 2 || coefficients[0] != x[0] || coefficients[2] != 2 ||
      x[1] > coefficients[1] - offset) {
    return invalid_input(
        "x is {} at channel offset {}; coefficients must be [N, >= offset + C, 2],"
        " were {}",
        x.to_string(), offset, coefficients.to_string());
  }
  const std::string activation = inputs.op.attributes.text("activation", "none");
  if (activation != "none" && activation != "silu") {
    return invalid_input("activation must be none or silu, was {}", in_quotes(activation));
  }
  return std::vector{inputs.type(0)};
}

// Multiply, add; the activation as four more (negate, exp, add, divide).
double flops(const OpView& view) {
  const double per_element = view.op.attributes.text("activation", "none") == "none" ? 2.0 : 6.0;
  return per_element * static_cast<double>(view.output().type.shape.elements());
}

constexpr AttributeRule kAttributes[] = {
    {"activation", AttributeType::kText},
    {"channel_offset", AttributeType::kInteger, /*least=*/0},
};

}  // namespace

extern const OpDefinition affine_definition;
const OpDefinition affine_definition{OpKind::affine, infer, flops, kAttributes};

}  // namespace mezzotint
