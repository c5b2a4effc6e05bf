#include "imaging/resample.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"
#include "imaging/reorient.h"

namespace mezzotint {
namespace {

// Positions this near to a voxel's centre are that voxel: grids that agree up to the rounding of
// their affines give the values back unchanged.
constexpr double kSnap = 1e-6;
constexpr double kEqualWeights = 1e-6;

// The eight voxels around a position, and how much each counts.
struct Neighbours {
  std::array<std::size_t, 8> index{};
  std::array<double, 8> weight{};
};

// From voxels of one grid to voxels of another, by way of the world.
class VoxelMap {
 public:
  VoxelMap(const Grid& from, const Grid& to)
      : from_middle_(middle_voxel(from)), to_middle_(middle_voxel(to)) {
    const auto to_voxel = inverse(to.affine);
    check(to_voxel.has_value(), "a grid has an invertible affine");
    linear_ = multiply(*to_voxel, from.affine);
    const Vec3 shifted = transform(linear_, from_middle_);
    for (std::size_t i = 0; i < 3; ++i) {
      linear_[i][3] = 0;
      const double shift = shifted[i] - to_middle_[i];
      // Positions count from the middle, so the affines' translations matter in `shift` alone.
      to_middle_[i] += std::abs(shift) < kSnap ? 0 : shift;
    }
  }

  [[nodiscard]] Vec3 operator()(const Vec3& voxel) const {
    const Vec3 moved = transform(linear_, {voxel[0] - from_middle_[0], voxel[1] - from_middle_[1],
                                           voxel[2] - from_middle_[2]});
    return {moved[0] + to_middle_[0], moved[1] + to_middle_[1], moved[2] + to_middle_[2]};
  }

 private:
  Vec3 from_middle_;
  Vec3 to_middle_;
  Affine linear_{};
};

// The field of view ends half a voxel outside the outer centres.
bool in_field(const Dims3& dims, const Vec3& position) {
  for (std::size_t i = 0; i < 3; ++i) {
    // Written so that NaN is outside.
    if (!(position[i] >= -0.5 - kSnap &&
          position[i] <= static_cast<double>(dims[i]) - 0.5 + kSnap)) {
      return false;
    }
  }
  return true;
}

Neighbours neighbours(const Dims3& dims, const Vec3& position) {
  std::array<std::array<std::int64_t, 2>, 3> at{};
  std::array<std::array<double, 2>, 3> weight{};
  for (std::size_t i = 0; i < 3; ++i) {
    double inside = std::clamp(position[i], 0.0, static_cast<double>(dims[i] - 1));
    if (std::abs(inside - std::round(inside)) < kSnap) {
      inside = std::round(inside);
    }
    const double low = std::floor(inside);
    at[i][0] = static_cast<std::int64_t>(low);
    at[i][1] = std::min(at[i][0] + 1, dims[i] - 1);
    weight[i] = {1 - (inside - low), inside - low};
  }
  Neighbours out;
  for (std::size_t corner = 0; corner < 8; ++corner) {
    const std::size_t x = corner & 1;
    const std::size_t y = corner >> 1 & 1;
    const std::size_t z = corner >> 2;
    out.index[corner] =
        static_cast<std::size_t>((at[2][z] * dims[1] + at[1][y]) * dims[0] + at[0][x]);
    out.weight[corner] = weight[0][x] * weight[1][y] * weight[2][z];
  }
  return out;
}

std::uint8_t heaviest_label(const std::vector<std::uint8_t>& labels, const Neighbours& around) {
  std::uint8_t best = 0;
  double best_weight = -1;
  for (const std::size_t candidate : around.index) {
    const std::uint8_t label = labels[candidate];
    double weight = 0;
    for (std::size_t corner = 0; corner < 8; ++corner) {
      weight += labels[around.index[corner]] == label ? around.weight[corner] : 0;
    }
    const bool equal = std::abs(weight - best_weight) <= kEqualWeights;
    if (equal ? label < best : weight > best_weight) {
      best = label;
      best_weight = weight;
    }
  }
  return best;
}

template <typename Visit>
void for_each_voxel(const Dims3& dims, const Visit& visit) {
  std::size_t index = 0;
  for (std::int64_t z = 0; z < dims[2]; ++z) {
    for (std::int64_t y = 0; y < dims[1]; ++y) {
      for (std::int64_t x = 0; x < dims[0]; ++x, ++index) {
        visit(index, Vec3{static_cast<double>(x), static_cast<double>(y), static_cast<double>(z)});
      }
    }
  }
}

template <typename T, typename Value>
VolumeOf<T> sample_grid(const Grid& from, const Grid& target, T outside, const Value& value) {
  VolumeOf<T> result{target, std::vector<T>(static_cast<std::size_t>(target.voxels()), outside)};
  const VoxelMap to_source(target, from);
  for_each_voxel(target.dims, [&](std::size_t index, const Vec3& voxel) {
    const Vec3 position = to_source(voxel);
    if (in_field(from.dims, position)) {
      result.data[index] = value(neighbours(from.dims, position));
    }
  });
  return result;
}

}  // namespace

Result<Grid> grid_around(const Grid& field, const Dims3& dims, const Vec3& spacing,
                         std::string_view frame) {
  const auto directions = parse_frame(frame);
  if (!directions) {
    return directions.error();
  }
  Grid grid{dims, Affine{}};
  grid.affine[3][3] = 1;
  for (std::size_t a = 0; a < 3; ++a) {
    const AxisDirection& direction = (*directions)[a];
    grid.affine[static_cast<std::size_t>(direction.world)][a] =
        direction.positive ? spacing[a] : -spacing[a];
  }
  const Vec3 wanted = field_centre(field);
  const Vec3 present = field_centre(grid);
  for (std::size_t row = 0; row < 3; ++row) {
    grid.affine[row][3] = wanted[row] - present[row];
  }
  return grid;
}

Grid stretched_grid(const Grid& field, const Dims3& dims) {
  Affine to_field = identity_affine();  // new voxel -> old voxel, edges of the fields coinciding
  for (std::size_t a = 0; a < 3; ++a) {
    const double ratio = static_cast<double>(field.dims[a]) / static_cast<double>(dims[a]);
    to_field[a][a] = ratio;
    to_field[a][3] = 0.5 * ratio - 0.5;
  }
  return {dims, multiply(field.affine, to_field)};
}

LabelVolume resample_labels(const LabelVolume& volume, const Grid& target) {
  return sample_grid<std::uint8_t>(volume, target, 0, [&](const Neighbours& around) {
    return heaviest_label(volume.data, around);
  });
}

Volume resample_linear(const Volume& volume, const Grid& target, float outside) {
  return sample_grid<float>(volume, target, outside, [&](const Neighbours& around) {
    double sum = 0;
    for (std::size_t corner = 0; corner < 8; ++corner) {
      sum += around.weight[corner] * static_cast<double>(volume.data[around.index[corner]]);
    }
    return static_cast<float>(sum);
  });
}

LabelCounts count_labels_within(const LabelVolume& volume, const Grid& grid) {
  LabelCounts counts{};
  const VoxelMap to_grid(volume, grid);
  for_each_voxel(volume.dims, [&](std::size_t index, const Vec3& voxel) {
    if (volume.data[index] != 0 && in_field(grid.dims, to_grid(voxel))) {
      ++counts[volume.data[index]];
    }
  });
  return counts;
}

}  // namespace mezzotint
