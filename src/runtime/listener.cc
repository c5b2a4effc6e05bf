#include "runtime/listener.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"

namespace mezzotint {
namespace {

template <typename T>
bool all_finite(const Buffer& buffer, std::int64_t count) {
  const std::span<const T> values(buffer.as<T>(), static_cast<std::size_t>(count));
  return std::all_of(values.begin(), values.end(), [](T value) { return std::isfinite(value); });
}

bool is_finite(const Value& value, const Buffer& buffer) {
  const std::int64_t count = value.type.shape.elements();
  switch (value.type.dtype) {
    case DType::kF32: return all_finite<float>(buffer, count);
    case DType::kF64: return all_finite<double>(buffer, count);
    default: return true;
  }
}

}  // namespace

Status FiniteCheck::on_op(const OpEvent& event) {
  for (std::size_t i = 0; i < event.outputs.size(); ++i) {
    if (!is_finite(event.view.output(i), event.outputs[i])) {
      return make_error(ErrorCode::kNumerics, "op {} ({}) is the first to make a non-finite value",
                        event.op.name, event.op.implementation);
    }
  }
  return {};
}

}  // namespace mezzotint
