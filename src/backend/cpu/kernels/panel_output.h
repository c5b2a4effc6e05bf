// What the GEMM bodies of gemm-inl.h do with their results. A plain struct, for contracts.
#pragma once

#include <cstdint>

namespace mezzotint::kernels {

// Results of some positions and one panel of output channels: sum + constant + residual.
struct PanelOutput {
  float* out;
  const float* residual;   // laid out like out, and may be out; null: none
  std::int64_t offset;     // of the first position's first channel, in out and residual
  const float* constants;  // a whole panel, zero where the panel has no channel
  double* sums;            // a panel's, which what is stored is added to; null: none
  double* squares;         // the same of squares
  std::int64_t stride;     // floats from one position to the next, of out and residual
  std::int64_t channels;   // of this panel
};

}  // namespace mezzotint::kernels
