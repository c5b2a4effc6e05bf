#include "backend/cpu/kernels/conv_winograd/conv_winograd-inl.h"

const mezzotint::kernels::WinogradStages& mezzotint::kernels::conv_winograd_avx512() {
  return kStages;
}
