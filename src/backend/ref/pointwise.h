// The law: every op as one output element, computed in double from its inputs' elements.
//
// Naive loops in <op>.cc, one function per op, listed by ops.def. Nothing here is ever optimised.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "graph/graph.h"

namespace mezzotint::ref {

// What an op reads: elements by logical position (as many entries as the value's rank).
class Elements {
 public:
  virtual ~Elements() = default;
  [[nodiscard]] virtual double input(std::size_t i, const std::int64_t* index) const = 0;
  // An element of another output of the same op, when that output is stored already. A region's
  // moments are those of the values as stored, not of values computed again.
  [[nodiscard]] virtual std::optional<double> stored_output(std::size_t /*k*/,
                                                            const std::int64_t* /*index*/) const {
    return std::nullopt;
  }
};

// Element `index` of output `output` of the op. Regions evaluate their body lazily, so that no
// intermediate tensor is needed.
[[nodiscard]] double element_at(const OpView& view, std::size_t output, const std::int64_t* index,
                                const Elements& elements);

#define MEZZOTINT_OP(name)                                               \
  [[nodiscard]] double name##_at(const OpView& view, std::size_t output, \
                                 const std::int64_t* index, const Elements& elements);
#include "graph/ops.def"
#undef MEZZOTINT_OP

}  // namespace mezzotint::ref
