// For ISA files only: exp and SiLU of a vector.
#pragma once

#include <hwy/contrib/math/math-inl.h>

#include "backend/cpu/kernels/vectors-inl.h"

namespace mezzotint::kernels {
namespace {

// e^x, at most 1 ulp; x must be at most 127 * ln 2 * 2, where the result is infinite already.
HWY_INLINE FloatVector exponential(FloatVector x) {
  return hn::Exp(kFloats, x);
}

// x / (1 + e^-x). Below the bound e^-x is infinite and the result -0, also for -infinity; a
// comparison, not a minimum, so that NaN passes.
HWY_INLINE FloatVector silu(FloatVector x) {
  const FloatVector bound = hn::Set(kFloats, -100.0F);
  const FloatVector limited = hn::IfThenElse(hn::Lt(x, bound), bound, x);
  const FloatVector one = hn::Set(kFloats, 1.0F);
  return hn::Div(limited, hn::Add(one, exponential(hn::Neg(limited))));
}

}  // namespace
}  // namespace mezzotint::kernels
