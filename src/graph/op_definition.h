// What every op owes. One definition per op, in ops/<op>.cc; the table follows ops.def.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "graph/graph.h"

namespace mezzotint {

// An op before its outputs exist.
struct OpInputs {
  const Op& op;
  std::vector<const Value*> values;

  [[nodiscard]] const ValueType& type(std::size_t i) const { return values.at(i)->type; }
  [[nodiscard]] const Shape& shape(std::size_t i) const { return values.at(i)->type.shape; }
};

enum class AttributeType : std::uint8_t { kInteger, kReal, kText };

// An attribute that an op knows. It may be absent: then readers take their fallback.
struct AttributeRule {
  std::string_view name;
  AttributeType type;
  std::int64_t least = 0;  // of an integer; the largest is kLargestInteger
};

// Of an attribute. Twice or three times as much is far from the limits of int64.
inline constexpr std::int64_t kLargestInteger = 2147483647;

struct OpDefinition {
  OpKind kind;
  // Types of the outputs, or one line that says what the inputs should have been (without the op's
  // name). Attributes have been checked against the rules; sizes may be anything from 0 on.
  Result<std::vector<ValueType>> (*infer)(const OpInputs&);
  // Floating-point operations of the direct form; a multiply-add counts two.
  double (*flops)(const OpView&);
  std::span<const AttributeRule> attributes = {};
};

[[nodiscard]] const OpDefinition& definition_of(OpKind kind);

// The definition's infer(), after the attributes' names, types and ranges; every size that it gives
// fits into int64.
Result<std::vector<ValueType>> infer_types(const OpInputs& inputs);

[[nodiscard]] double flops_of(const OpView& view);
// Bytes of all inputs, parameters and outputs, each touched once.
[[nodiscard]] double bytes_of(const OpView& view);
// Of the parameters alone.
[[nodiscard]] double parameter_bytes_of(const OpView& view);

// The shape [N, C, D, H, W] of the volume that an op works on: its result, or what it reads; null
// for work on vectors.
[[nodiscard]] const Shape* volume_of(const OpView& view);

// Helpers for infer().
Status expect_inputs(const OpInputs& inputs, std::size_t least, std::size_t most);
Status expect_rank(const OpInputs& inputs, std::size_t i, std::size_t rank);
[[nodiscard]] Error too_large(const OpInputs& inputs);

}  // namespace mezzotint
