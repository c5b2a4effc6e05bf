#include "backend/ref/memory.h"

#include "base/check.h"

namespace mezzotint::ref {

double load_element(const ValueType& type, const std::byte* data, const std::int64_t* index) {
  const std::int64_t offset = element_offset(type.shape, type.layout, index);
  if (type.dtype == DType::kF64) {
    return reinterpret_cast<const double*>(data)[offset];
  }
  if (type.dtype == DType::kI32) {
    return reinterpret_cast<const std::int32_t*>(data)[offset];
  }
  check(type.dtype == DType::kF32, "the reference reads float32, float64 and int32 only");
  return reinterpret_cast<const float*>(data)[offset];
}

void store_element(const ValueType& type, std::byte* data, const std::int64_t* index,
                   double value) {
  const std::int64_t offset = element_offset(type.shape, type.layout, index);
  if (type.dtype == DType::kF64) {
    reinterpret_cast<double*>(data)[offset] = value;
    return;
  }
  check(type.dtype == DType::kF32, "the reference stores float32 and float64 only");
  reinterpret_cast<float*>(data)[offset] = static_cast<float>(value);
}

double MemoryElements::input(std::size_t i, const std::int64_t* index) const {
  return load_element(view_.input(i).type, inputs_[i].data, index);
}

std::optional<double> MemoryElements::stored_output(std::size_t k,
                                                    const std::int64_t* index) const {
  if (!stored_[k]) {
    return std::nullopt;
  }
  return load_element(view_.output(k).type, outputs_[k].data, index);
}

void unflatten(const Shape& shape, std::int64_t flat, std::int64_t* index) {
  for (std::size_t axis = shape.rank(); axis-- > 0;) {
    index[axis] = flat % shape[axis];
    flat /= shape[axis];
  }
}

}  // namespace mezzotint::ref
