// The units of a processor that multiply and add, as peaks and shares of work are stated for.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace mezzotint {

// kFma: fused multiply-add on float32 vectors of the ISA. The AMX ones are matrix units.
enum class MathUnit : std::uint8_t { kFma, kVnniInt8, kAvx512Bf16, kAmxBf16, kAmxInt8 };

inline constexpr MathUnit kAllMathUnits[] = {MathUnit::kFma, MathUnit::kVnniInt8,
                                             MathUnit::kAvx512Bf16, MathUnit::kAmxBf16,
                                             MathUnit::kAmxInt8};

// "fma", "vnni-int8", "avx512-bf16", "amx-bf16", "amx-int8"
[[nodiscard]] std::string_view name_of(MathUnit unit);
[[nodiscard]] std::optional<MathUnit> math_unit_from_name(std::string_view name);
// Those that multiply tiles: AMX.
[[nodiscard]] bool is_matrix_unit(MathUnit unit);
// Dot products of narrow operands in vectors: VNNI, AVX-512-BF16. They are no matrix units.
[[nodiscard]] bool is_narrow_vector_unit(MathUnit unit);

}  // namespace mezzotint
