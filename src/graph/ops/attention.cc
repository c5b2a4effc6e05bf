// attention(qkv [N, heads * 3 * ch, ...]) {heads}: softmax(q^T k / sqrt(ch)) v per head over all
// positions. Channels are split per head first, then into q, k, v. Result [N, heads * ch, ...].
#include "base/error.h"
#include "graph/op_definition.h"

namespace mezzotint {
namespace {

Result<std::vector<ValueType>> infer(const OpInputs& inputs) {
  if (Status status = expect_inputs(inputs, 1, 1); !status) {
    return status.error();
  }
  const std::int64_t heads = inputs.op.attributes.integer("heads", 1);
  const Shape& qkv = inputs.shape(0);
  if (qkv.rank() < 3 || qkv[1] % (3 * heads) != 0) {
    return invalid_input("qkv is {}; its channels must be a multiple of 3 x {} heads",
                         qkv.to_string(), heads);
  }
  ValueType type = inputs.type(0);
  type.shape = qkv.with(1, qkv[1] / 3);
  return std::vector{type};
}

double flops(const OpView& view) {
  const Shape& out = view.output().type.shape;
  const double positions =
      static_cast<double>(out.elements()) / static_cast<double>(out[0] * out[1]);
  return 4.0 * static_cast<double>(out[0] * out[1]) * positions * positions;
}

constexpr AttributeRule kAttributes[] = {
    {"heads", AttributeType::kInteger, /*least=*/1},
};

}  // namespace

extern const OpDefinition attention_definition;
const OpDefinition attention_definition{OpKind::attention, infer, flops, kAttributes};

}  // namespace mezzotint
