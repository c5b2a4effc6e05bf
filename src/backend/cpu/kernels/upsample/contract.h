// One row of trilinear doubling, channels innermost.
#pragma once

#include <cstdint>

namespace mezzotint::kernels {

// The four input rows that an output row lies between, and their weights (along depth times along
// height). Rows may coincide at the border.
struct UpsampleRow {
  const float* rows[4];
  float weights[4];
  std::int64_t width;  // of the input
  std::int64_t channels;
};

struct UpsampleKernels {
  // mixed: scratch of width * channels; out: 2 * width * channels. No overlap.
  void (*upsample_row)(const UpsampleRow& row, float* mixed, float* out);
};

const UpsampleKernels& upsample_avx2();
const UpsampleKernels& upsample_avx512();

}  // namespace mezzotint::kernels
