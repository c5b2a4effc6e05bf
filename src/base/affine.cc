#include "base/affine.h"

#include <cmath>
#include <cstddef>

namespace mezzotint {
Affine identity_affine() {
  return scaling_affine({1, 1, 1});
}

Affine scaling_affine(const Vec3& scale) {
  Affine result{};
  for (std::size_t i = 0; i < 3; ++i) {
    result[i][i] = scale[i];
  }
  result[3][3] = 1;
  return result;
}

Affine multiply(const Affine& a, const Affine& b) {
  Affine result{};
  for (std::size_t row = 0; row < 4; ++row) {
    for (std::size_t column = 0; column < 4; ++column) {
      for (std::size_t k = 0; k < 4; ++k) {
        result[row][column] += a[row][k] * b[k][column];
      }
    }
  }
  return result;
}

Vec3 transform(const Affine& affine, const Vec3& point) {
  Vec3 result{};
  for (std::size_t row = 0; row < 3; ++row) {
    const auto& m = affine[row];
    result[row] = m[0] * point[0] + m[1] * point[1] + m[2] * point[2] + m[3];
  }
  return result;
}

double determinant(const Affine& affine) {
  const Affine& m = affine;
  return m[0][0] * (m[1][1] * m[2][2] - m[1][2] * m[2][1]) -
         m[0][1] * (m[1][0] * m[2][2] - m[1][2] * m[2][0]) +
         m[0][2] * (m[1][0] * m[2][1] - m[1][1] * m[2][0]);
}

Vec3 column_norms(const Affine& affine) {
  Vec3 norms{};
  for (std::size_t column = 0; column < 3; ++column) {
    norms[column] = std::hypot(affine[0][column], affine[1][column], affine[2][column]);
  }
  return norms;
}

bool is_usable(const Affine& affine) {
  constexpr double kSmallestVoxel = 1e-4;
  constexpr double kLargestVoxel = 1e4;
  constexpr double kLargestOffset = 1e7;
  constexpr double kSmallestVolumeRatio = 1e-6;
  const Vec3 norms = column_norms(affine);
  for (std::size_t i = 0; i < 3; ++i) {
    // Negated comparisons refuse NaN too.
    if (!(norms[i] >= kSmallestVoxel && norms[i] <= kLargestVoxel) ||
        !(std::abs(affine[i][3]) <= kLargestOffset)) {
      return false;
    }
  }
  return std::abs(determinant(affine)) >= kSmallestVolumeRatio * norms[0] * norms[1] * norms[2];
}

std::optional<Affine> inverse(const Affine& affine) {
  const double volume = determinant(affine);
  const bool placed =
      std::isfinite(affine[0][3]) && std::isfinite(affine[1][3]) && std::isfinite(affine[2][3]);
  if (!std::isfinite(volume) || volume == 0 || !placed) {
    return std::nullopt;
  }
  Affine result{};
  for (std::size_t row = 0; row < 3; ++row) {
    for (std::size_t column = 0; column < 3; ++column) {
      // Cyclic indices give the cofactor its sign.
      const std::size_t r1 = (column + 1) % 3;
      const std::size_t r2 = (column + 2) % 3;
      const std::size_t c1 = (row + 1) % 3;
      const std::size_t c2 = (row + 2) % 3;
      result[row][column] =
          (affine[r1][c1] * affine[r2][c2] - affine[r1][c2] * affine[r2][c1]) / volume;
    }
  }
  for (std::size_t row = 0; row < 3; ++row) {
    for (std::size_t k = 0; k < 3; ++k) {
      result[row][3] -= result[row][k] * affine[k][3];
    }
  }
  result[3][3] = 1;
  return result;
}

}  // namespace mezzotint
