// The matrices of Winograd's minimal filtering F(m, 3) in one dimension (Winograd, "Arithmetic
// complexity of computations", 1980; Lavin & Gray, "Fast algorithms for convolutional neural
// networks", CVPR 2016), by Toom and Cook from m + 1 points and infinity:
//
//   y = A^T [(G g) * (B^T d)]     d: m + 2 inputs, g: 3 weights, y: m outputs
//
// In three dimensions each is applied along every axis. docs/winograd.md derives them and says what
// the choice of points costs in accuracy.
#pragma once

#include <cstdint>

namespace mezzotint::kernels {

// Outputs per tile and axis.
enum class WinogradTile : std::uint8_t { k2 = 2, k4 = 4 };

inline constexpr int kMostTileInputs = 6;

// F(2): 0, +-1. F(4): 0, +-11/16, +-3/2, less than a third of the error of 0, +-1, +-2 for the same
// work. All their polynomials' coefficients are exact in float32.
inline constexpr double kInnerPoint4 = 0.6875;
inline constexpr double kOuterPoint4 = 1.5;

struct WinogradMatrices {
  int outputs = 0;                                       // m
  int inputs = 0;                                        // m + 2, the number of products, too
  double input[kMostTileInputs][kMostTileInputs] = {};   // B^T: inputs x inputs
  double weight[kMostTileInputs][3] = {};                // G: inputs x 3
  double output[kMostTileInputs][kMostTileInputs] = {};  // A^T: outputs x inputs
};

[[nodiscard]] WinogradMatrices winograd_matrices(WinogradTile tile);

}  // namespace mezzotint::kernels
