// One row of a 3x3x3 convolution with stride 1, padding 1 and at most 8 input channels, as a matrix
// product: the 9 channels * 3 inputs of each row of taps lie side by side. A library that divides
// input channels into vectors leaves most of each empty; here the lanes hold output channels.
#pragma once

#include <cstdint>

#include "backend/cpu/kernels/panel_output.h"

namespace mezzotint::kernels {

struct ConvFewInputsRow {
  // Input rows at (depth, height) offsets -1 .. 1, channels innermost, with a position of zeros
  // before and after.
  const float* rows[9];
  const float* weights;  // [9][3][channels][panel], zero beyond the panel's channels
  std::int64_t width;
  std::int64_t channels;  // of the input
};

struct ConvFewInputsKernels {
  static constexpr std::int64_t kMostChannels = 8;

  std::int64_t panel_channels;
  void (*conv_row)(const ConvFewInputsRow& row, const PanelOutput& to);
};

const ConvFewInputsKernels& conv_few_inputs_avx2();
const ConvFewInputsKernels& conv_few_inputs_avx512();

}  // namespace mezzotint::kernels
