#include "imaging/volume.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string_view>

namespace mezzotint {

Vec3 middle_voxel(const Grid& grid) {
  return {static_cast<double>(grid.dims[0] - 1) / 2, static_cast<double>(grid.dims[1] - 1) / 2,
          static_cast<double>(grid.dims[2] - 1) / 2};
}

Vec3 field_centre(const Grid& grid) {
  return transform(grid.affine, middle_voxel(grid));
}

std::array<AxisDirection, 3> axis_directions(const Affine& affine) {
  const Vec3 norms = column_norms(affine);
  // cosine(v, w): how much voxel axis v runs along world axis w.
  const auto cosine = [&](std::size_t voxel, std::size_t world) {
    return affine[world][voxel] / norms[voxel];
  };
  std::array<std::size_t, 3> order{0, 1, 2};
  std::array<std::size_t, 3> best = order;
  double best_fit = -1;
  do {
    double fit = 0;
    for (std::size_t voxel = 0; voxel < 3; ++voxel) {
      fit += std::abs(cosine(voxel, order[voxel]));
    }
    // Oblique grids have ties up to rounding: the first in lexicographic order stays.
    if (fit > best_fit + 1e-9) {
      best_fit = fit;
      best = order;
    }
  } while (std::next_permutation(order.begin(), order.end()));

  std::array<AxisDirection, 3> directions;
  for (std::size_t voxel = 0; voxel < 3; ++voxel) {
    directions[voxel] = {static_cast<int>(best[voxel]), cosine(voxel, best[voxel]) >= 0};
  }
  return directions;
}

std::string orientation_codes(const Affine& affine) {
  constexpr std::string_view kPositive = "RAS";
  constexpr std::string_view kNegative = "LPI";
  std::string codes;
  for (const AxisDirection& direction : axis_directions(affine)) {
    const std::string_view letters = direction.positive ? kPositive : kNegative;
    codes += letters[static_cast<std::size_t>(direction.world)];
  }
  return codes;
}

double grid_distance(const Grid& a, const Grid& b) {
  if (a.dims != b.dims) {
    return std::numeric_limits<double>::infinity();
  }
  double largest = 0;
  for (unsigned corner = 0; corner < 8; ++corner) {
    Vec3 voxel{};
    for (std::size_t i = 0; i < 3; ++i) {
      voxel[i] = (corner >> i & 1) != 0 ? static_cast<double>(a.dims[i] - 1) : 0.0;
    }
    const Vec3 p = transform(a.affine, voxel);
    const Vec3 q = transform(b.affine, voxel);
    largest = std::max(largest, std::hypot(p[0] - q[0], p[1] - q[1], p[2] - q[2]));
  }
  return largest;
}

std::string format_dims(const Dims3& dims) {
  return fmt::format("{}", fmt::join(dims, "x"));
}

std::string format_spacing(const Vec3& spacing) {
  if (spacing[0] == spacing[1] && spacing[1] == spacing[2]) {
    return fmt::format("{:.4g} mm", spacing[0]);
  }
  return fmt::format("{:.4g} mm", fmt::join(spacing, "x"));
}

}  // namespace mezzotint
