// Body of the ISA files: what every instruction set has.
#pragma once

#include "backend/cpu/kernels/probes/dot-inl.h"
#include "backend/cpu/kernels/vectors-inl.h"

namespace mezzotint::kernels {
namespace {

struct FmaUnit {
  using Sum = FloatVector;
  static constexpr std::int64_t kSums = kLanes == 8 ? kVectorSumsAvx2 : kVectorSumsAvx512;
  static constexpr std::int64_t kBytes = kLanes * 4;
  static constexpr std::int64_t kProducts = kLanes;

  static HWY_INLINE FloatVector load_operand(const std::byte* p) { return load_sum(p); }
  static HWY_INLINE FloatVector load_sum(const std::byte* p) {
    return hn::Load(kFloats, reinterpret_cast<const float*>(p));
  }
  static HWY_INLINE void store(FloatVector sum, std::byte* p) {
    hn::Store(sum, kFloats, reinterpret_cast<float*>(p));
  }
  static HWY_INLINE FloatVector add_product(FloatVector sum, FloatVector a, FloatVector b) {
    return hn::MulAdd(a, b, sum);
  }
};

void stream(const float* a, const float* b, float scale, float* y, std::int64_t count) {
  const FloatVector factor = hn::Set(kFloats, scale);
  for_each_vector(count, [&](std::int64_t i, const auto& access) HWY_ATTR {
    access.store(hn::MulAdd(access.load(b + i), factor, access.load(a + i)), y + i);
  });
}

}  // namespace
}  // namespace mezzotint::kernels
