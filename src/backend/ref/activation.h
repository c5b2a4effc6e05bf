#pragma once

#include <cmath>

namespace mezzotint::ref {

// x * sigmoid(x). exp() overflows to infinity for very negative x, and the quotient is then -0.
inline double silu(double x) {
  return x / (1.0 + std::exp(-x));
}

}  // namespace mezzotint::ref
