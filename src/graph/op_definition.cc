#include "graph/op_definition.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <iterator>

#include "base/check.h"
#include "base/error.h"
#include "base/quote.h"

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

struct TypeName {
  std::string_view operator()(std::int64_t) const { return "an integer"; }
  std::string_view operator()(double) const { return "a real"; }
  std::string_view operator()(const std::string&) const { return "a text"; }
};

constexpr std::string_view kTypeNames[] = {"an integer", "a real such as 1.0", "a text"};

Status check_attribute(const AttributeRule& rule, const Attribute& value) {
  static_assert(std::is_same_v<Attribute, std::variant<std::int64_t, double, std::string>>,
                "AttributeType numbers the alternatives of Attribute");
  const auto type = static_cast<std::size_t>(rule.type);
  if (value.index() != type) {
    return invalid_input("attribute {} must be {}, was {}", in_quotes(rule.name), kTypeNames[type],
                         std::visit(TypeName(), value));
  }
  if (const auto* integer = std::get_if<std::int64_t>(&value);
      integer != nullptr && (*integer < rule.least || *integer > kLargestInteger)) {
    return invalid_input("attribute {} must be {} to {}, was {}", in_quotes(rule.name), rule.least,
                         kLargestInteger, *integer);
  }
  if (const auto* real = std::get_if<double>(&value); real != nullptr && !std::isfinite(*real)) {
    return invalid_input("attribute {} must be finite, was {}", in_quotes(rule.name), *real);
  }
  return {};
}

Status check_attributes(const Op& op) {
  const std::span<const AttributeRule> rules = definition_of(op.kind).attributes;
  for (const auto& [name, value] : op.attributes.entries()) {
    const auto rule = std::ranges::find(rules, std::string_view(name), &AttributeRule::name);
    if (rule == rules.end()) {
      std::vector<std::string_view> known;
      std::ranges::transform(rules, std::back_inserter(known), &AttributeRule::name);
      return invalid_input("there is no attribute {}; expected {}", in_quotes(name),
                           known.empty() ? "none" : fmt::format("{}", fmt::join(known, ", ")));
    }
    if (Status status = check_attribute(*rule, value); !status) {
      return status;
    }
  }
  return {};
}

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

Result<std::vector<ValueType>> infer_types(const OpInputs& inputs) {
  if (Status status = check_attributes(inputs.op); !status) {
    return status.error();
  }
  auto types = definition_of(inputs.op.kind).infer(inputs);
  if (types && !std::ranges::all_of(
                   *types, [](const ValueType& type) { return checked_bytes(type).has_value(); })) {
    return too_large(inputs);
  }
  return types;
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

double parameter_bytes_of(const OpView& view) {
  double bytes = 0;
  for (const ValueId id : view.op.inputs) {
    const Value& value = view.graph.value(id);
    bytes += value.kind == ValueKind::kParameter ? static_cast<double>(value.type.bytes()) : 0;
  }
  return bytes;
}

const Shape* volume_of(const OpView& view) {
  constexpr std::size_t kVolumeRank = 5;
  for (std::size_t i = 0; i < view.op.outputs.size(); ++i) {
    if (view.output(i).type.shape.rank() == kVolumeRank) {
      return &view.output(i).type.shape;
    }
  }
  for (std::size_t i = 0; i < view.input_count(); ++i) {
    const Value& input = view.input(i);
    if (input.kind != ValueKind::kParameter && input.type.shape.rank() == kVolumeRank) {
      return &input.type.shape;
    }
  }
  return nullptr;
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

Error too_large(const OpInputs& inputs) {
  return invalid_input("its result on {} is too large: sizes must fit into 64 bits",
                       inputs.values.empty() ? "no input" : inputs.shape(0).to_string());
}

}  // namespace mezzotint
