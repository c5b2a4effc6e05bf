#include "backend/cpu/kernels/moments/moments-inl.h"

const mezzotint::kernels::MomentsKernels& mezzotint::kernels::moments_avx2() {
  return kMoments;
}
