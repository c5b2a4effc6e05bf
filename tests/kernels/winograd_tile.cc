#include "kernels/winograd_tile.h"

#include <cmath>

namespace mezzotint::testing {
namespace {

template <typename Row>
Matrix matrix_of(const Row* rows, std::int64_t count, std::int64_t columns) {
  Matrix matrix{count, columns};
  for (std::int64_t i = 0; i < count; ++i) {
    for (std::int64_t j = 0; j < columns; ++j) {
      matrix.entries[static_cast<std::size_t>(i * columns + j)] = rows[i][j];
    }
  }
  return matrix;
}

// Along the middle axis of [outer][columns][inner].
std::vector<double> apply_along(const Matrix& matrix, std::int64_t outer, std::int64_t inner,
                                std::span<const double> from) {
  std::vector<double> to(static_cast<std::size_t>(outer * matrix.rows * inner));
  for (std::int64_t o = 0; o < outer; ++o) {
    for (std::int64_t i = 0; i < matrix.rows; ++i) {
      for (std::int64_t j = 0; j < matrix.columns; ++j) {
        for (std::int64_t k = 0; k < inner; ++k) {
          to[static_cast<std::size_t>((o * matrix.rows + i) * inner + k)] +=
              matrix.at(i, j) *
              from[static_cast<std::size_t>((o * matrix.columns + j) * inner + k)];
        }
      }
    }
  }
  return to;
}

}  // namespace

Matrix input_matrix(const kernels::WinogradMatrices& matrices) {
  return matrix_of(matrices.input, matrices.inputs, matrices.inputs);
}

Matrix weight_matrix(const kernels::WinogradMatrices& matrices) {
  return matrix_of(matrices.weight, matrices.inputs, 3);
}

Matrix output_matrix(const kernels::WinogradMatrices& matrices) {
  return matrix_of(matrices.output, matrices.outputs, matrices.inputs);
}

std::vector<double> along_axes(const Matrix& z, const Matrix& y, const Matrix& x,
                               std::span<const double> cube) {
  const auto along_x = apply_along(x, z.columns * y.columns, 1, cube);
  const auto along_y = apply_along(y, z.columns, x.rows, along_x);
  return apply_along(z, 1, y.rows * x.rows, along_y);
}

std::vector<double> along_axes(const Matrix& matrix, std::span<const double> cube) {
  return along_axes(matrix, matrix, matrix, cube);
}

std::vector<double> correlate(std::int64_t outputs, std::span<const double> inputs,
                              std::span<const double> weights) {
  const std::int64_t side = outputs + 2;
  std::vector<double> sums;
  for (std::int64_t i = 0; i < outputs * outputs * outputs; ++i) {
    const std::int64_t z = i / (outputs * outputs);
    const std::int64_t y = i / outputs % outputs;
    const std::int64_t x = i % outputs;
    double sum = 0;
    for (std::int64_t tap = 0; tap < 27; ++tap) {
      const std::int64_t at = ((z + tap / 9) * side + y + tap / 3 % 3) * side + x + tap % 3;
      sum += inputs[static_cast<std::size_t>(at)] * weights[static_cast<std::size_t>(tap)];
    }
    sums.push_back(sum);
  }
  return sums;
}

double rms(std::span<const double> values) {
  double squares = 0;
  for (const double value : values) {
    squares += value * value;
  }
  return std::sqrt(squares / static_cast<double>(values.size()));
}

double rms_difference(std::span<const double> a, std::span<const double> b) {
  std::vector<double> differences;
  for (std::size_t i = 0; i < a.size(); ++i) {
    differences.push_back(a[i] - b[i]);
  }
  return rms(differences);
}

}  // namespace mezzotint::testing
