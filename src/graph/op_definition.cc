#include "graph/op_definition.h"

#include "base/check.h"
#include "base/error.h"

namespace mezzotint {

#define MEZZOTINT_OP(name) extern const OpDefinition name##_definition;
#include "graph/ops.def"
#undef MEZZOTINT_OP

namespace {

constexpr std::string_view kNames[] = {
#define MEZZOTINT_OP(name) #name,
#include "graph/ops.def"
#undef MEZZOTINT_OP
};

}  // namespace

std::string_view name_of(OpKind kind) {
  return kNames[static_cast<std::size_t>(kind)];
}

std::optional<OpKind> op_kind_from_name(std::string_view name) {
  for (const OpKind kind : kAllOpKinds) {
    if (name_of(kind) == name) {
      return kind;
    }
  }
  return std::nullopt;
}

const OpDefinition& definition_of(OpKind kind) {
  switch (kind) {
#define MEZZOTINT_OP(name) \
  case OpKind::name:       \
    return name##_definition;
#include "graph/ops.def"
#undef MEZZOTINT_OP
  }
  check_failed("unknown op kind");
}

double flops_of(const OpView& view) {
  return definition_of(view.op.kind).flops(view);
}

double bytes_of(const OpView& view) {
  double bytes = 0;
  for (const ValueId id : view.op.inputs) {
    bytes += static_cast<double>(view.graph.value(id).type.bytes());
  }
  for (const ValueId id : view.op.outputs) {
    bytes += static_cast<double>(view.graph.value(id).type.bytes());
  }
  return bytes;
}

Status expect_inputs(const OpInputs& inputs, std::size_t least, std::size_t most) {
  const std::size_t count = inputs.values.size();
  if (count < least || count > most) {
    return invalid_input("takes {} to {} inputs, was given {}", least, most, count);
  }
  return {};
}

Status expect_rank(const OpInputs& inputs, std::size_t i, std::size_t rank) {
  if (inputs.shape(i).rank() != rank) {
    return invalid_input("input {} ({}) has shape {}, expected rank {}", i, inputs.values[i]->name,
                         inputs.shape(i).to_string(), rank);
  }
  return {};
}

}  // namespace mezzotint
