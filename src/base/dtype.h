// Element types and exact conversions between them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace mezzotint {

enum class DType : std::uint8_t { kF64, kF32, kF16, kBF16, kI64, kI32, kI16, kI8, kU8, kBool };

[[nodiscard]] std::size_t size_of(DType dtype);
// "float32", "bfloat16", ... as numpy and torch spell them.
[[nodiscard]] std::string_view name_of(DType dtype);
[[nodiscard]] std::optional<DType> dtype_from_name(std::string_view name);

// Exact widening.
[[nodiscard]] float float_from_bf16(std::uint16_t bits);
[[nodiscard]] float float_from_f16(std::uint16_t bits);

// Converts `bytes` (little-endian elements of `dtype`, size out.size() * size_of(dtype)) to
// float32. float64 and wide integers round to nearest; everything else is exact.
void convert_to_float(DType dtype, std::span<const std::byte> bytes, std::span<float> out);

}  // namespace mezzotint
