// Body of the ISA files.
#pragma once

#include "backend/cpu/kernels/moments/contract.h"
#include "backend/cpu/kernels/vectors-inl.h"

namespace mezzotint::kernels {
namespace {

using Doubles = hn::ScalableTag<double>;
using DoubleVector = hn::Vec<Doubles>;
constexpr Doubles kDoubles;
constexpr hn::Rebind<float, Doubles> kHalfFloats;
constexpr std::int64_t kDoubleLanes = hn::MaxLanes(kDoubles);

// Vectors of doubles per pass over the rows: two accumulators each hide the latency of additions
// and leave registers for operands (32 on AVX-512, 16 on AVX2).
constexpr std::int64_t kVectorsPerPass = HWY_TARGET == HWY_AVX2 ? 4 : 8;

template <std::int64_t kVectors>
HWY_INLINE void sum_columns(const float* x, std::int64_t rows, std::int64_t columns,
                            std::int64_t first, double* sums) {
  DoubleVector sum[kVectors];
  DoubleVector square[kVectors];
  for (std::int64_t v = 0; v < kVectors; ++v) {
    sum[v] = hn::Zero(kDoubles);
    square[v] = hn::Zero(kDoubles);
  }
  for (std::int64_t row = 0; row < rows; ++row) {
    const float* p = x + row * columns + first;
    for (std::int64_t v = 0; v < kVectors; ++v) {
      const DoubleVector value =
          hn::PromoteTo(kDoubles, hn::LoadU(kHalfFloats, p + v * kDoubleLanes));
      sum[v] = hn::Add(sum[v], value);
      square[v] = hn::MulAdd(value, value, square[v]);
    }
  }
  for (std::int64_t v = 0; v < kVectors; ++v) {
    hn::StoreU(sum[v], kDoubles, sums + first + v * kDoubleLanes);
    hn::StoreU(square[v], kDoubles, sums + columns + first + v * kDoubleLanes);
  }
}

void sum_rows(const float* x, std::int64_t rows, std::int64_t columns, double* sums) {
  constexpr std::int64_t kWide = kVectorsPerPass * kDoubleLanes;
  constexpr std::int64_t kUnitVectors = MomentsKernels::kColumnUnit / kDoubleLanes;
  std::int64_t column = 0;
  for (; column + kWide <= columns; column += kWide) {
    sum_columns<kVectorsPerPass>(x, rows, columns, column, sums);
  }
  for (; column < columns; column += MomentsKernels::kColumnUnit) {
    sum_columns<kUnitVectors>(x, rows, columns, column, sums);
  }
}

constexpr MomentsKernels kMoments{sum_rows};

}  // namespace
}  // namespace mezzotint::kernels
