#include "backend/cpu/kernels/upsample/upsample-inl.h"

const mezzotint::kernels::UpsampleKernels& mezzotint::kernels::upsample_avx2() {
  return kUpsample;
}
