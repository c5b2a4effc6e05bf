// One tile of a Winograd convolution in double, by its matrices alone.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "backend/cpu/kernels/conv_winograd/matrices.h"

namespace mezzotint::testing {

struct Matrix {
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  std::vector<double> entries = std::vector<double>(static_cast<std::size_t>(rows * columns));

  [[nodiscard]] double at(std::int64_t row, std::int64_t column) const {
    return entries[static_cast<std::size_t>(row * columns + column)];
  }
};

[[nodiscard]] Matrix input_matrix(const kernels::WinogradMatrices& matrices);   // B^T
[[nodiscard]] Matrix weight_matrix(const kernels::WinogradMatrices& matrices);  // G
[[nodiscard]] Matrix output_matrix(const kernels::WinogradMatrices& matrices);  // A^T

// Along every axis of a cube (z, y, x): rows^3 from columns^3 values.
[[nodiscard]] std::vector<double> along_axes(const Matrix& z, const Matrix& y, const Matrix& x,
                                             std::span<const double> cube);
[[nodiscard]] std::vector<double> along_axes(const Matrix& matrix, std::span<const double> cube);

// m^3 outputs of (m + 2)^3 inputs and 3^3 weights, direct.
[[nodiscard]] std::vector<double> correlate(std::int64_t outputs, std::span<const double> inputs,
                                            std::span<const double> weights);

[[nodiscard]] double rms(std::span<const double> values);
[[nodiscard]] double rms_difference(std::span<const double> a, std::span<const double> b);

}  // namespace mezzotint::testing
