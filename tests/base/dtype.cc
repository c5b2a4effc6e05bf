#include "base/dtype.h"

#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

namespace mezzotint {
namespace {

// The value a format's bits stand for, from IEEE 754's definition.
double value_of(std::uint16_t bits, int exponent_bits) {
  const int mantissa_bits = 15 - exponent_bits;
  const int bias = (1 << (exponent_bits - 1)) - 1;
  const int exponent = (bits & 0x7FFF) >> mantissa_bits;
  const int mantissa = bits & ((1 << mantissa_bits) - 1);
  const double sign = (bits & 0x8000) != 0 ? -1.0 : 1.0;
  if (exponent == (1 << exponent_bits) - 1) {
    return mantissa != 0 ? std::numeric_limits<double>::quiet_NaN()
                         : sign * std::numeric_limits<double>::infinity();
  }
  return exponent == 0
             ? sign * std::ldexp(mantissa, 1 - bias - mantissa_bits)
             : sign * std::ldexp(mantissa + (1 << mantissa_bits), exponent - bias - mantissa_bits);
}

struct Format {
  const char* name;
  int exponent_bits;
  float (*widen)(std::uint16_t);
};

void PrintTo(const Format& format, std::ostream* out) {
  *out << format.name;
}

class HalfFormat : public testing::TestWithParam<Format> {};

TEST_P(HalfFormat, EveryBitPatternWidensExactly) {
  const Format& format = GetParam();
  for (int bits = 0; bits < 65536; ++bits) {
    const double expected = value_of(static_cast<std::uint16_t>(bits), format.exponent_bits);
    const float actual = format.widen(static_cast<std::uint16_t>(bits));
    if (std::isnan(expected)) {
      ASSERT_TRUE(std::isnan(actual)) << bits;
    } else {
      ASSERT_EQ(static_cast<double>(actual), expected) << bits;
      ASSERT_EQ(std::signbit(actual), std::signbit(expected)) << bits;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, HalfFormat,
                         testing::Values(Format{"f16", 5, float_from_f16},
                                         Format{"bf16", 8, float_from_bf16}),
                         [](const auto& info) { return info.param.name; });

TEST(DType, NamesRoundTripAndSizesMatch) {
  const std::vector<std::pair<DType, std::size_t>> sizes = {
      {DType::kF64, 8}, {DType::kF32, 4}, {DType::kF16, 2}, {DType::kBF16, 2}, {DType::kI64, 8},
      {DType::kI32, 4}, {DType::kI16, 2}, {DType::kI8, 1},  {DType::kU8, 1},   {DType::kBool, 1}};
  for (const auto& [dtype, size] : sizes) {
    EXPECT_EQ(size_of(dtype), size) << name_of(dtype);
    EXPECT_EQ(dtype_from_name(name_of(dtype)), dtype);
  }
  EXPECT_EQ(name_of(DType::kBF16), "bfloat16");
  EXPECT_FALSE(dtype_from_name("complex64").has_value());
  EXPECT_FALSE(dtype_from_name("").has_value());
}

template <typename T>
std::vector<float> converted(DType dtype, const std::vector<T>& values) {
  std::vector<float> out(values.size());
  convert_to_float(dtype, std::as_bytes(std::span(values)), out);
  return out;
}

TEST(DType, ConvertsEveryType) {
  using Floats = std::vector<float>;
  EXPECT_EQ(converted<double>(DType::kF64, {0.1, -2.5}), (Floats{0.1F, -2.5F}));
  EXPECT_EQ(converted<float>(DType::kF32, {0.1F, 1e-40F}), (Floats{0.1F, 1e-40F}));
  EXPECT_EQ(converted<std::uint16_t>(DType::kF16, {0x3C00, 0x0001}), (Floats{1.0F, 0x1p-24F}));
  EXPECT_EQ(converted<std::uint16_t>(DType::kBF16, {0x3F80, 0xC000}), (Floats{1.0F, -2.0F}));
  EXPECT_EQ(converted<std::int64_t>(DType::kI64, {-5, 16777217}), (Floats{-5.0F, 16777216.0F}));
  EXPECT_EQ(converted<std::int32_t>(DType::kI32, {-5, 9}), (Floats{-5.0F, 9.0F}));
  EXPECT_EQ(converted<std::int16_t>(DType::kI16, {-32768, 32767}), (Floats{-32768.0F, 32767.0F}));
  EXPECT_EQ(converted<std::int8_t>(DType::kI8, {-128, 127}), (Floats{-128.0F, 127.0F}));
  EXPECT_EQ(converted<std::uint8_t>(DType::kU8, {0, 255}), (Floats{0.0F, 255.0F}));
  EXPECT_EQ(converted<std::uint8_t>(DType::kBool, {0, 1}), (Floats{0.0F, 1.0F}));
}

TEST(DTypeDeathTest, ByteCountMustMatch) {
  std::vector<std::byte> bytes(7);
  std::vector<float> out(2);
  EXPECT_DEATH(convert_to_float(DType::kF32, bytes, out), "byte count does not match");
}

}  // namespace
}  // namespace mezzotint
