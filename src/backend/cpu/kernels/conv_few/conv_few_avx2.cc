#include "backend/cpu/kernels/conv_few/conv_few-inl.h"

const mezzotint::kernels::ConvFewKernels& mezzotint::kernels::conv_few_avx2() {
  return kConvFew;
}
