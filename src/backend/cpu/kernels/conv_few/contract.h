// One row of a 3x3x3 convolution with stride 1, padding 1 and at most 4 output channels, channels
// innermost. A library that puts output channels into vector lanes computes 16 for each of these;
// here the lanes hold input channels.
#pragma once

#include <cstdint>

namespace mezzotint::kernels {

struct ConvFewRow {
  const float* rows[9];  // input rows at (depth, height) offsets -1 .. 1; null: padding
  const float* zeros;    // `channels` zeros, for positions outside a row
  const float* weights;  // [outputs][9][3][channel_stride], zero beyond `channels`
  const float* bias;     // [outputs]
  std::int64_t width;
  std::int64_t channels;
  std::int64_t channel_stride;  // a multiple of kChannelUnit
  std::int64_t position_step;   // floats from a result to its neighbour's
  std::int64_t output_step;     // floats from one output channel to the next
};

struct ConvFewKernels {
  static constexpr std::int64_t kMostOutputs = 4;
  static constexpr std::int64_t kChannelUnit = 16;

  // Entry k - 1 computes k outputs of each position; out does not overlap the input.
  void (*conv_row[kMostOutputs])(const ConvFewRow& row, float* out);
};

const ConvFewKernels& conv_few_avx2();
const ConvFewKernels& conv_few_avx512();

}  // namespace mezzotint::kernels
