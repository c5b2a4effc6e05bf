#include "backend/cpu/kernels/upsample/upsample-inl.h"

const mezzotint::kernels::UpsampleKernels& mezzotint::kernels::upsample_avx512() {
  return kUpsample;
}
