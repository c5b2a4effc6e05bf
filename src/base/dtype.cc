#include "base/dtype.h"

#include <bit>
#include <cmath>
#include <cstring>

#include "base/check.h"

namespace mezzotint {
namespace {

struct DTypeInfo {
  DType dtype;
  std::size_t size;
  std::string_view name;
};

constexpr DTypeInfo kInfos[] = {
    {DType::kF64, 8, "float64"},   {DType::kF32, 4, "float32"}, {DType::kF16, 2, "float16"},
    {DType::kBF16, 2, "bfloat16"}, {DType::kI64, 8, "int64"},   {DType::kI32, 4, "int32"},
    {DType::kI16, 2, "int16"},     {DType::kI8, 1, "int8"},     {DType::kU8, 1, "uint8"},
    {DType::kBool, 1, "bool"},
};

const DTypeInfo& info_of(DType dtype) {
  const auto index = static_cast<std::size_t>(dtype);
  check(index < std::size(kInfos) && kInfos[index].dtype == dtype, "unknown dtype");
  return kInfos[index];
}

template <typename T>
void convert_as(std::span<const std::byte> bytes, std::span<float> out) {
  for (std::size_t i = 0; i < out.size(); ++i) {
    T value;
    std::memcpy(&value, bytes.data() + i * sizeof(T), sizeof(T));
    out[i] = static_cast<float>(value);
  }
}

template <typename Widen>
void convert_half(std::span<const std::byte> bytes, std::span<float> out, Widen widen) {
  for (std::size_t i = 0; i < out.size(); ++i) {
    std::uint16_t bits;
    std::memcpy(&bits, bytes.data() + i * sizeof(bits), sizeof(bits));
    out[i] = widen(bits);
  }
}

}  // namespace

std::size_t size_of(DType dtype) {
  return info_of(dtype).size;
}

std::string_view name_of(DType dtype) {
  return info_of(dtype).name;
}

std::optional<DType> dtype_from_name(std::string_view name) {
  for (const DTypeInfo& info : kInfos) {
    if (info.name == name) {
      return info.dtype;
    }
  }
  return std::nullopt;
}

float float_from_bf16(std::uint16_t bits) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
}

float float_from_f16(std::uint16_t bits) {
  const std::uint32_t sign = static_cast<std::uint32_t>(bits & 0x8000u) << 16;
  const std::uint32_t exponent = (bits >> 10) & 0x1Fu;
  const std::uint32_t mantissa = bits & 0x3FFu;
  if (exponent == 0x1F) {
    return std::bit_cast<float>(sign | 0x7F800000u | (mantissa << 13));
  }
  if (exponent == 0) {
    const float magnitude = std::ldexp(static_cast<float>(mantissa), -24);
    return sign != 0 ? -magnitude : magnitude;
  }
  return std::bit_cast<float>(sign | ((exponent + 112u) << 23) | (mantissa << 13));
}

void convert_to_float(DType dtype, std::span<const std::byte> bytes, std::span<float> out) {
  check(bytes.size() == out.size() * size_of(dtype), "byte count does not match element count");
  switch (dtype) {
    case DType::kF64: return convert_as<double>(bytes, out);
    case DType::kF32: return convert_as<float>(bytes, out);
    case DType::kF16: return convert_half(bytes, out, float_from_f16);
    case DType::kBF16: return convert_half(bytes, out, float_from_bf16);
    case DType::kI64: return convert_as<std::int64_t>(bytes, out);
    case DType::kI32: return convert_as<std::int32_t>(bytes, out);
    case DType::kI16: return convert_as<std::int16_t>(bytes, out);
    case DType::kI8: return convert_as<std::int8_t>(bytes, out);
    case DType::kU8:
    case DType::kBool: return convert_as<std::uint8_t>(bytes, out);
  }
}

}  // namespace mezzotint
