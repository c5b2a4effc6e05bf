// What every op owes. One definition per op, in ops/<op>.cc; the table follows ops.def.
#pragma once

#include <string>
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

struct OpDefinition {
  OpKind kind;
  // Types of the outputs, or one line that says what the inputs should have been (without the op's
  // name).
  Result<std::vector<ValueType>> (*infer)(const OpInputs&);
  // Floating-point operations of the direct form; a multiply-add counts two.
  double (*flops)(const OpView&);
};

[[nodiscard]] const OpDefinition& definition_of(OpKind kind);

[[nodiscard]] double flops_of(const OpView& view);
// Bytes of all inputs, parameters and outputs, each touched once.
[[nodiscard]] double bytes_of(const OpView& view);

// Helpers for infer().
Status expect_inputs(const OpInputs& inputs, std::size_t least, std::size_t most);
Status expect_rank(const OpInputs& inputs, std::size_t i, std::size_t rank);

}  // namespace mezzotint
