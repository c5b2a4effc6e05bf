#include "imaging/resample.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"
#include "base/error.h"
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

class Sampler {
 public:
  Sampler(const Grid& from, const Grid& to) : dims_(from.dims) {
    const auto to_voxel = inverse(from.affine);
    check(to_voxel.has_value(), "a volume has an invertible affine");
    map_ = multiply(*to_voxel, to.affine);
  }

  // False when the target voxel's centre is outside the field of view.
  [[nodiscard]] bool find(const Vec3& target, Neighbours& out) const {
    const Vec3 position = transform(map_, target);
    std::array<std::array<std::int64_t, 2>, 3> at{};
    std::array<std::array<double, 2>, 3> weight{};
    for (std::size_t i = 0; i < 3; ++i) {
      const auto last = static_cast<double>(dims_[i] - 1);
      if (!(position[i] >= -0.5 - kSnap && position[i] <= last + 0.5 + kSnap)) {
        return false;
      }
      double inside = std::clamp(position[i], 0.0, last);
      if (std::abs(inside - std::round(inside)) < kSnap) {
        inside = std::round(inside);
      }
      const double low = std::floor(inside);
      at[i][0] = static_cast<std::int64_t>(low);
      at[i][1] = std::min(at[i][0] + 1, dims_[i] - 1);
      weight[i] = {1 - (inside - low), inside - low};
    }
    for (std::size_t corner = 0; corner < 8; ++corner) {
      const std::size_t x = corner & 1;
      const std::size_t y = corner >> 1 & 1;
      const std::size_t z = corner >> 2;
      out.index[corner] =
          static_cast<std::size_t>((at[2][z] * dims_[1] + at[1][y]) * dims_[0] + at[0][x]);
      out.weight[corner] = weight[0][x] * weight[1][y] * weight[2][z];
    }
    return true;
  }

 private:
  Dims3 dims_;
  Affine map_{};  // target voxel -> source voxel
};

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

template <typename T, typename Value>
VolumeOf<T> sample_grid(const Grid& from, const Grid& target, T outside, const Value& value) {
  VolumeOf<T> result{target, std::vector<T>(static_cast<std::size_t>(target.voxels()), outside)};
  const Sampler sampler(from, target);
  Neighbours around;
  std::size_t out = 0;
  for (std::int64_t z = 0; z < target.dims[2]; ++z) {
    for (std::int64_t y = 0; y < target.dims[1]; ++y) {
      for (std::int64_t x = 0; x < target.dims[0]; ++x, ++out) {
        const Vec3 centre{static_cast<double>(x), static_cast<double>(y), static_cast<double>(z)};
        if (sampler.find(centre, around)) {
          result.data[out] = value(around);
        }
      }
    }
  }
  return result;
}

bool any_label(const LabelVolume& volume) {
  return std::any_of(volume.data.begin(), volume.data.end(),
                     [](std::uint8_t label) { return label != 0; });
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

Result<LabelVolume> resample_labels(const LabelVolume& volume, const Grid& target) {
  auto result = sample_grid<std::uint8_t>(volume, target, 0, [&](const Neighbours& around) {
    return heaviest_label(volume.data, around);
  });
  if (any_label(volume) && !any_label(result)) {
    const Vec3 spacing = column_norms(target.affine);
    return invalid_input(
        "no label of the mask is left on a grid of {} voxels of {:g} x {:g} x {:g} mm around its "
        "centre, expected a mask whose labels are near the middle of its field of view and larger "
        "than a voxel; crop or shift it",
        fmt::join(target.dims, " x "), spacing[0], spacing[1], spacing[2]);
  }
  return result;
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

}  // namespace mezzotint
