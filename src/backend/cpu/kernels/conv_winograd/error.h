// How far float32 results of a Winograd convolution may be from exact ones, from the matrices and
// the number of roundings in the transforms of tiles-inl.h. docs/winograd.md derives both.
#pragma once

#include <cstdint>

#include "backend/cpu/kernels/conv_winograd/matrices.h"

namespace mezzotint::kernels {

// One output sums 27 products per channel of inputs and weights of these magnitudes.
struct ConvMagnitudes {
  std::int64_t channels = 0;
  double input = 0;
  double weight = 0;
  int load_roundings = 0;  // of an input, before its transform or beyond those of tiles-inl.h
};

// No inputs and weights of at most these magnitudes give a larger error, whatever their signs.
// Without the epilogue's roundings.
[[nodiscard]] double winograd_hard_bound(const WinogradMatrices& matrices,
                                         const ConvMagnitudes& largest);

// Estimates the root mean square of the error over a tile, for independent inputs and weights of
// these root mean squares and mean 0. High by up to 2.5: it takes each rounding to be as large as
// it can be within its power of two, and partial sums to be as large as whole ones.
[[nodiscard]] double winograd_rms_error(const WinogradMatrices& matrices,
                                        const ConvMagnitudes& rms);

// The same estimate for a direct sum, one product after the other: what sum_bound() of
// base/rounding.h is derived from.
[[nodiscard]] double direct_rms_error(const ConvMagnitudes& rms);

// winograd_rms_error over direct_rms_error, but at least 1: Implementation::error_growth.
[[nodiscard]] double winograd_error_growth(const WinogradMatrices& matrices, std::int64_t channels);

}  // namespace mezzotint::kernels
