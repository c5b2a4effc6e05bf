// Softmax attention of a block of queries over all keys and values of one head.
#pragma once

#include <cstdint>

namespace mezzotint::kernels {

// Keys and values are packed in panels of AttentionKernels::panel columns, zero beyond the last:
//   keys:   for each panel of tokens   [channels][panel]
//   values: for each panel of channels [tokens][panel]
struct AttentionBlock {
  const float* queries;
  std::int64_t query_stride;  // elements between tokens
  std::int64_t rows;          // 1 .. kRows
  const float* keys;
  const float* values;
  std::int64_t tokens;
  std::int64_t channels;
  float scale;                // of the scores
  std::int64_t score_stride;  // AttentionKernels::score_stride()
  float* scratch;             // scratch_floats() elements, overwritten
  float* out;
  std::int64_t out_stride;
};

struct AttentionKernels {
  // A multiple of the register tiles of all ISAs; kRows rows of 4096 scores are 393 KiB, which
  // stay in an L2 cache while they are normalised and multiplied.
  static constexpr std::int64_t kRows = 24;

  std::int64_t panel;
  void (*attend)(const AttentionBlock& block);

  // An odd number of cache lines per row of scores, lest all rows fall into one cache set.
  [[nodiscard]] std::int64_t score_stride(std::int64_t tokens) const {
    return (tokens + panel - 1) / panel * panel + 16;
  }
  [[nodiscard]] std::int64_t scratch_floats(std::int64_t tokens, std::int64_t channels) const {
    return kRows * (channels + score_stride(tokens));
  }
};

const AttentionKernels& attention_avx2();
const AttentionKernels& attention_avx512();

}  // namespace mezzotint::kernels
