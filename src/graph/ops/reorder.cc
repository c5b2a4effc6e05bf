// reorder(x) {layout}: the same logical values in another order in memory.
#include "base/error.h"
#include "base/quote.h"
#include "graph/op_definition.h"

namespace mezzotint {
namespace {

Result<std::vector<ValueType>> infer(const OpInputs& inputs) {
  if (Status status = expect_inputs(inputs, 1, 1); !status) {
    return status.error();
  }
  const std::string name = inputs.op.attributes.text("layout", "");
  const auto layout = layout_from_name(name);
  if (!layout) {
    return invalid_input("layout must be row_major or channels_last, was {}", in_quotes(name));
  }
  ValueType type = inputs.type(0);
  if (*layout == Layout::kChannelsLast && type.shape.rank() != 5) {
    return invalid_input("channels_last needs [N, C, D, H, W], x is {}", type.shape.to_string());
  }
  type.layout = *layout;
  return std::vector{type};
}

double flops(const OpView&) {
  return 0.0;
}

constexpr AttributeRule kAttributes[] = {
    {"layout", AttributeType::kText},
};

}  // namespace

extern const OpDefinition reorder_definition;
const OpDefinition reorder_definition{OpKind::reorder, infer, flops, kAttributes};

}  // namespace mezzotint
