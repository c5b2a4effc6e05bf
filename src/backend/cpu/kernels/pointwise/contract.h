// Element-wise kernels over contiguous float32, one call per range of elements.
//
// y may be x (or, for add, either operand), but must not overlap it otherwise. No alignment is
// required. Per-channel operands are tables of `period` elements, a multiple of kPeriodUnit, that
// repeat along the range: with channels innermost, the channel vector repeated until it fills whole
// vectors.
#pragma once

#include <cstdint>

namespace mezzotint::kernels {

struct PointwiseKernels {
  // x * sigmoid(x); -0 for very negative x, NaN stays NaN. At most 4 ulp.
  void (*silu)(const float* x, float* y, std::int64_t count);
  void (*add)(const float* a, const float* b, float* y, std::int64_t count);
  void (*add_periodic)(const float* x, const float* table, std::int64_t period, float* y,
                       std::int64_t count);
  // x * scale + shift, rounded once.
  void (*affine)(const float* x, const float* scale, const float* shift, std::int64_t period,
                 float* y, std::int64_t count);
  void (*affine_silu)(const float* x, const float* scale, const float* shift, std::int64_t period,
                      float* y, std::int64_t count);

  static constexpr std::int64_t kPeriodUnit = 16;  // vector lengths of all ISAs divide it
};

const PointwiseKernels& pointwise_avx2();
const PointwiseKernels& pointwise_avx512();

}  // namespace mezzotint::kernels
