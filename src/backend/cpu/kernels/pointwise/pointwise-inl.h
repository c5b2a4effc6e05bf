// Body of the ISA files.
#pragma once

#include "backend/cpu/kernels/pointwise/contract.h"
#include "backend/cpu/kernels/silu-inl.h"
#include "backend/cpu/kernels/vectors-inl.h"

namespace mezzotint::kernels {
namespace {

static_assert(PointwiseKernels::kPeriodUnit % kLanes == 0);

void silu_range(const float* x, float* y, std::int64_t count) {
  for_each_vector(count, [&](std::int64_t i, const auto& access)
                             HWY_ATTR { access.store(silu(access.load(x + i)), y + i); });
}

void add_range(const float* a, const float* b, float* y, std::int64_t count) {
  for_each_vector(count, [&](std::int64_t i, const auto& access) HWY_ATTR {
    access.store(hn::Add(access.load(a + i), access.load(b + i)), y + i);
  });
}

// f(vector of x, index into the table)
template <typename F>
HWY_INLINE void periodic(const float* x, std::int64_t period, float* y, std::int64_t count,
                         const F& f) {
  for (std::int64_t base = 0; base < count; base += period) {
    const std::int64_t run = count - base < period ? count - base : period;
    for_each_vector(run, [&](std::int64_t i, const auto& access) HWY_ATTR {
      access.store(f(access.load(x + base + i), i), y + base + i);
    });
  }
}

void add_periodic(const float* x, const float* table, std::int64_t period, float* y,
                  std::int64_t count) {
  periodic(x, period, y, count, [&](FloatVector v, std::int64_t i) HWY_ATTR {
    return hn::Add(v, hn::LoadU(kFloats, table + i));
  });
}

void affine(const float* x, const float* scale, const float* shift, std::int64_t period, float* y,
            std::int64_t count) {
  periodic(x, period, y, count, [&](FloatVector v, std::int64_t i) HWY_ATTR {
    return hn::MulAdd(v, hn::LoadU(kFloats, scale + i), hn::LoadU(kFloats, shift + i));
  });
}

void affine_silu(const float* x, const float* scale, const float* shift, std::int64_t period,
                 float* y, std::int64_t count) {
  periodic(x, period, y, count, [&](FloatVector v, std::int64_t i) HWY_ATTR {
    return silu(hn::MulAdd(v, hn::LoadU(kFloats, scale + i), hn::LoadU(kFloats, shift + i)));
  });
}

constexpr PointwiseKernels kPointwise{silu_range, add_range, add_periodic, affine, affine_silu};

}  // namespace
}  // namespace mezzotint::kernels
