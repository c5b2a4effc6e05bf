#include "backend/cpu/kernels/attention/attention-inl.h"

const mezzotint::kernels::AttentionKernels& mezzotint::kernels::attention_avx512() {
  return kAttention;
}
