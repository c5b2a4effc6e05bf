#include "backend/cpu/kernels/conv_winograd/matrices.h"

#include <vector>

namespace mezzotint::kernels {
namespace {

std::vector<double> points_of(WinogradTile tile) {
  if (tile == WinogradTile::k2) {
    return {0, 1, -1};
  }
  return {0, kInnerPoint4, -kInnerPoint4, kOuterPoint4, -kOuterPoint4};
}

// Coefficients, lowest first, of the product of (x - p) over all points but number `left_out`.
std::vector<double> node_polynomial(const std::vector<double>& points, std::size_t left_out) {
  std::vector<double> product{1};
  for (std::size_t k = 0; k < points.size(); ++k) {
    if (k == left_out) {
      continue;
    }
    std::vector<double> next(product.size() + 1, 0);
    for (std::size_t i = 0; i < product.size(); ++i) {
      next[i + 1] += product[i];
      next[i] -= points[k] * product[i];
    }
    product = std::move(next);
  }
  return product;
}

double value_at(const std::vector<double>& polynomial, double x) {
  double value = 0;
  for (std::size_t i = polynomial.size(); i-- > 0;) {
    value = value * x + polynomial[i];
  }
  return value;
}

}  // namespace

WinogradMatrices winograd_matrices(WinogradTile tile) {
  const std::vector<double> points = points_of(tile);
  WinogradMatrices matrices;
  matrices.outputs = static_cast<int>(tile);
  matrices.inputs = matrices.outputs + 2;
  const std::size_t infinity = points.size();
  for (std::size_t j = 0; j < points.size(); ++j) {
    const std::vector<double> others = node_polynomial(points, j);
    for (std::size_t i = 0; i < others.size(); ++i) {
      matrices.input[j][i] = others[i];
    }
    const double norm = value_at(others, points[j]);
    double power = 1;
    for (int i = 0; i < matrices.outputs; ++i, power *= points[j]) {
      matrices.output[i][j] = power;
    }
    power = 1;
    for (int i = 0; i < 3; ++i, power *= points[j]) {
      matrices.weight[j][i] = power / norm;
    }
  }
  const std::vector<double> all = node_polynomial(points, infinity);
  for (std::size_t i = 0; i < all.size(); ++i) {
    matrices.input[infinity][i] = all[i];
  }
  matrices.weight[infinity][2] = 1;
  matrices.output[matrices.outputs - 1][infinity] = 1;
  return matrices;
}

}  // namespace mezzotint::kernels
