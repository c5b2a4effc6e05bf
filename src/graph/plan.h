// What was decided per op. Plain data, keyed by the op's name in the lowered graph: a fused
// convolution keeps its own.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "mezzotint/result.h"

namespace mezzotint {

// What kernels may do to a float32 computation: docs/precision.md.
enum class Precision { kStrict, kFp32 };

[[nodiscard]] std::string_view name_of(Precision precision);
// kInvalidInput names the known ones.
Result<Precision> precision_from_name(std::string_view name);

struct PlanEntry {
  std::string implementation;  // empty: the cheapest by the cost table
};

struct Plan {
  Precision precision = Precision::kFp32;
  std::map<std::string, PlanEntry> entries;

  // The implementation that an entry asks for; empty: any.
  [[nodiscard]] std::string implementation_of(const std::string& op) const;
};

}  // namespace mezzotint
