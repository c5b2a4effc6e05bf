// What the kernel folders share outside their ISA files: an Implementation made of two functions,
// and the checks most of them begin with.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "backend/backend.h"
#include "graph/conv_region.h"

namespace mezzotint::kernels {

using Refusal = std::optional<std::string>;

struct ImplementationParts {
  std::string_view name;
  Refusal (*refuse)(const OpView& view);
  std::unique_ptr<Kernel> (*prepare)(const OpView& view, const Machine& machine);
};

[[nodiscard]] std::unique_ptr<Implementation> make_implementation(const ImplementationParts& parts);

// Reasons why `value` is not what most kernels compute on; `what` is its role ("x").
[[nodiscard]] Refusal refuse_unless_f32(const Value& value, std::string_view what);
// Float32 whose channels are innermost in memory: channels_last, or rank 2.
[[nodiscard]] Refusal refuse_unless_channels_innermost(const Value& value, std::string_view what);
// The same, or row_major, where rows_of(type) is what a kernel needs.
[[nodiscard]] Refusal refuse_unless_channels_and_positions(const Value& value,
                                                           std::string_view what);

// A 3x3x3 kernel that keeps the volume's size.
[[nodiscard]] Refusal refuse_unless_cube3(const OpView& view, const ConvRegion& region);

// What a convolution adds to every position of a sample: the bias [padded], and the first
// `channels` of the time vector unless it is null. constants: [samples][padded]; time:
// [samples][channels].
void fill_constants(const float* bias, const float* time, std::int64_t samples,
                    std::int64_t channels, std::int64_t padded, float* constants);

// A value with channels innermost, as rows of channels.
struct Rows {
  std::int64_t samples = 0;
  std::int64_t positions = 0;  // rows per sample
  std::int64_t channels = 0;

  [[nodiscard]] std::int64_t sample_elements() const { return positions * channels; }
};
[[nodiscard]] Rows rows_of(const Shape& shape);
// In row-major order each channel of a sample counts as a sample of one channel.
[[nodiscard]] Rows rows_of(const ValueType& type);

// The table of functions for a machine: the one place that maps an instruction set to code. AMX
// machines run the AVX-512 files.
template <typename Table>
const Table& for_isa(Isa isa, const Table& avx2, const Table& avx512) {
  return isa == Isa::kAvx2 ? avx2 : avx512;
}

[[nodiscard]] constexpr std::int64_t ceil_div(std::int64_t a, std::int64_t b) {
  return (a + b - 1) / b;
}
[[nodiscard]] constexpr std::int64_t round_up(std::int64_t a, std::int64_t unit) {
  return ceil_div(a, unit) * unit;
}

}  // namespace mezzotint::kernels
