#include "backend/cpu/kernels/implementation.h"

#include <fmt/format.h>

#include <algorithm>

namespace mezzotint::kernels {
namespace {

class PartsImplementation final : public Implementation {
 public:
  explicit PartsImplementation(const ImplementationParts& parts) : parts_(parts) {}

  std::string_view name() const override { return parts_.name; }
  std::optional<std::string> refusal(const OpView& view, const Target&) const override {
    return parts_.refuse(view);
  }
  Result<std::unique_ptr<Kernel>> prepare(const OpView& view, const Target& target) const override {
    return parts_.prepare(view, target.machine);
  }

 private:
  ImplementationParts parts_;
};

}  // namespace

std::unique_ptr<Implementation> make_implementation(const ImplementationParts& parts) {
  return std::make_unique<PartsImplementation>(parts);
}

Refusal refuse_unless_f32(const Value& value, std::string_view what) {
  if (value.type.dtype != DType::kF32) {
    return fmt::format("{} must be float32, is {}", what, name_of(value.type.dtype));
  }
  return std::nullopt;
}

Refusal refuse_unless_channels_innermost(const Value& value, std::string_view what) {
  if (auto reason = refuse_unless_f32(value, what)) {
    return reason;
  }
  if (value.type.layout != Layout::kChannelsLast && value.type.shape.rank() != 2) {
    return fmt::format("{} must be channels_last, is {} {}", what, name_of(value.type.layout),
                       value.type.shape.to_string());
  }
  return std::nullopt;
}

Refusal refuse_unless_channels_and_positions(const Value& value, std::string_view what) {
  if (auto reason = refuse_unless_f32(value, what)) {
    return reason;
  }
  if (value.type.shape.rank() < 2) {
    return fmt::format("{} must have channels, is {}", what, value.type.shape.to_string());
  }
  return std::nullopt;
}

Refusal refuse_unless_cube3(const OpView& view, const ConvRegion& region) {
  const Shape& shape = view.input(region.weight).type.shape;
  if (shape[2] != 3 || shape[3] != 3 || shape[4] != 3 || region.stride != 1 ||
      region.padding != 1) {
    return "made for 3x3x3 kernels with stride 1 and padding 1";
  }
  return std::nullopt;
}

void fill_constants(const float* bias, const float* time, std::int64_t samples,
                    std::int64_t channels, std::int64_t padded, float* constants) {
  for (std::int64_t n = 0; n < samples; ++n) {
    float* row = constants + n * padded;
    std::copy_n(bias, padded, row);
    for (std::int64_t c = 0; time != nullptr && c < channels; ++c) {
      row[c] += time[n * channels + c];
    }
  }
}

Rows rows_of(const Shape& shape) {
  Rows rows{shape[0], 1, shape[1]};
  for (std::size_t axis = 2; axis < shape.rank(); ++axis) {
    rows.positions *= shape[axis];
  }
  return rows;
}

Rows rows_of(const ValueType& type) {
  const Rows rows = rows_of(type.shape);
  if (type.layout == Layout::kChannelsLast || type.shape.rank() == 2) {
    return rows;
  }
  return {rows.samples * rows.channels, rows.positions, 1};
}

}  // namespace mezzotint::kernels
