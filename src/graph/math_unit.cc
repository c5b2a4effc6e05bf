#include "graph/math_unit.h"

namespace mezzotint {

std::string_view name_of(MathUnit unit) {
  switch (unit) {
    case MathUnit::kFma: return "fma";
    case MathUnit::kVnniInt8: return "vnni-int8";
    case MathUnit::kAvx512Bf16: return "avx512-bf16";
    case MathUnit::kAmxBf16: return "amx-bf16";
    case MathUnit::kAmxInt8: return "amx-int8";
  }
  return "";
}

std::optional<MathUnit> math_unit_from_name(std::string_view name) {
  for (const MathUnit unit : kAllMathUnits) {
    if (name_of(unit) == name) {
      return unit;
    }
  }
  return std::nullopt;
}

bool is_matrix_unit(MathUnit unit) {
  return unit == MathUnit::kAmxBf16 || unit == MathUnit::kAmxInt8;
}

bool is_narrow_vector_unit(MathUnit unit) {
  return unit == MathUnit::kVnniInt8 || unit == MathUnit::kAvx512Bf16;
}

}  // namespace mezzotint
