// A volume on a grid in world space.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/affine.h"
#include "formats/nifti.h"

namespace mezzotint {

using Dims3 = std::array<std::int64_t, 3>;  // x, y, z

// Voxel centres in space: world = affine * (x, y, z, 1), millimetres, RAS+.
struct Grid {
  Dims3 dims{};
  Affine affine{};

  [[nodiscard]] std::int64_t voxels() const { return dims[0] * dims[1] * dims[2]; }
};

// data: x fastest, then y, then z; the memory order of a tensor [z, y, x].
template <typename T>
struct VolumeOf : Grid {
  std::vector<T> data;

  [[nodiscard]] std::size_t index(std::int64_t x, std::int64_t y, std::int64_t z) const {
    return static_cast<std::size_t>((z * dims[1] + y) * dims[0] + x);
  }
  [[nodiscard]] T at(std::int64_t x, std::int64_t y, std::int64_t z) const {
    return data[index(x, y, z)];
  }
};

using Volume = VolumeOf<float>;
using LabelVolume = VolumeOf<std::uint8_t>;

// In voxels: the middle of the field of view.
[[nodiscard]] Vec3 middle_voxel(const Grid& grid);
// Its world position.
[[nodiscard]] Vec3 field_centre(const Grid& grid);

// Where a voxel axis points: along world axis 0, 1 or 2 (x, y, z), towards R, A, S when positive.
struct AxisDirection {
  int world = 0;
  bool positive = true;

  bool operator==(const AxisDirection&) const = default;
};

// The assignment of voxel axes to world axes that is nearest overall; each world axis occurs once.
[[nodiscard]] std::array<AxisDirection, 3> axis_directions(const Affine& affine);

// Where the voxel axes point, nearest letters: "RAS", "LPS", "PIR", ... The affine is usable.
[[nodiscard]] std::string orientation_codes(const Affine& affine);

// Largest distance in mm between corresponding voxel centres at the corners of two grids of equal
// dims; infinite when the dims differ.
[[nodiscard]] double grid_distance(const Grid& a, const Grid& b);

// "192x192x144".
[[nodiscard]] std::string format_dims(const Dims3& dims);
// "1.5 mm", or "1x1x3 mm" where the axes differ.
[[nodiscard]] std::string format_spacing(const Vec3& spacing);

}  // namespace mezzotint
