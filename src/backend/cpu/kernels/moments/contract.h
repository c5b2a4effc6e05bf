// Sums for channel moments over a range of rows.
#pragma once

#include <cstdint>

namespace mezzotint::kernels {

// Columns are channels, or, when channels do not fill vectors, several rows of channels side by
// side. Plain sums and sums of squares in double suffice: a float32 channel whose mean is r times
// its deviation carries a rounding noise of r^2 * 2^-48 in its variance as stored, and cancellation
// in double adds r^2 * 2^-53.
struct MomentsKernels {
  // x: rows x columns, columns a multiple of kColumnUnit. sums: columns sums, then columns sums of
  // squares; overwritten.
  void (*sum_rows)(const float* x, std::int64_t rows, std::int64_t columns, double* sums);

  static constexpr std::int64_t kColumnUnit = 16;
};

const MomentsKernels& moments_avx2();
const MomentsKernels& moments_avx512();

}  // namespace mezzotint::kernels
