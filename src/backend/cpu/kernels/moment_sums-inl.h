// For ISA files only: sums that channel moments follow from, of values as they are stored.
#pragma once

#include "backend/cpu/kernels/vectors-inl.h"

namespace mezzotint::kernels {
namespace {

using Doubles = hn::ScalableTag<double>;
using DoubleVector = hn::Vec<Doubles>;
constexpr Doubles kDoubles;
constexpr std::int64_t kDoubleLanes = hn::MaxLanes(kDoubles);

// Sums of values and of their squares, in double: a vector of floats is two of doubles.
class MomentSums {
 public:
  MomentSums(double* sums, double* squares) : sums_(sums), squares_(squares) {
    for (int i = 0; i < 2; ++i) {
      sum_[i] = hn::LoadU(kDoubles, sums + i * kDoubleLanes);
      square_[i] = hn::LoadU(kDoubles, squares + i * kDoubleLanes);
    }
  }

  HWY_INLINE void add(FloatVector value) {
    add(0, hn::PromoteTo(kDoubles, hn::LowerHalf(value)));
    add(1, hn::PromoteTo(kDoubles, hn::UpperHalf(kHalfFloats, value)));
  }

  HWY_INLINE void store() const {
    for (int i = 0; i < 2; ++i) {
      hn::StoreU(sum_[i], kDoubles, sums_ + i * kDoubleLanes);
      hn::StoreU(square_[i], kDoubles, squares_ + i * kDoubleLanes);
    }
  }

 private:
  static constexpr hn::Half<Floats> kHalfFloats{};

  HWY_INLINE void add(int i, DoubleVector value) {
    sum_[i] = hn::Add(sum_[i], value);
    square_[i] = hn::MulAdd(value, value, square_[i]);
  }

  DoubleVector sum_[2];
  DoubleVector square_[2];
  double* sums_;
  double* squares_;
};

}  // namespace
}  // namespace mezzotint::kernels
