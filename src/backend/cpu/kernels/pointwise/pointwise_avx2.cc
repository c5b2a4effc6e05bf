#include "backend/cpu/kernels/pointwise/pointwise-inl.h"

const mezzotint::kernels::PointwiseKernels& mezzotint::kernels::pointwise_avx2() {
  return kPointwise;
}
