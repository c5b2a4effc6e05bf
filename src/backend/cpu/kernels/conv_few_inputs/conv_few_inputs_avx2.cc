#include "backend/cpu/kernels/conv_few_inputs/conv_few_inputs-inl.h"

const mezzotint::kernels::ConvFewInputsKernels& mezzotint::kernels::conv_few_inputs_avx2() {
  return kConvFewInputs;
}
