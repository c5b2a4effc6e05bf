#include "imaging/crop_or_pad.h"

#include <algorithm>

namespace mezzotint {
namespace {

// Index of the new first voxel on the old axis: negative where planes are added.
std::int64_t first_voxel(std::int64_t old_dim, std::int64_t new_dim) {
  const std::int64_t difference = old_dim - new_dim;
  return (difference + (difference > 0 ? 1 : -1)) / 2;
}

// The new grid and its first voxel on the old one.
struct Extent {
  Grid grid;
  Dims3 first{};
};

Extent extent_within(const Grid& grid, const Dims3& dims) {
  Extent extent{{dims, grid.affine}, {}};
  Vec3 origin{};
  for (std::size_t axis = 0; axis < 3; ++axis) {
    extent.first[axis] = first_voxel(grid.dims[axis], dims[axis]);
    origin[axis] = static_cast<double>(extent.first[axis]);
  }
  const Vec3 world = transform(grid.affine, origin);
  for (std::size_t row = 0; row < 3; ++row) {
    extent.grid.affine[row][3] = world[row];
  }
  return extent;
}

template <typename T>
VolumeOf<T> crop_or_pad_volume(const VolumeOf<T>& volume, const Dims3& dims) {
  const auto [grid, first] = extent_within(volume, dims);
  VolumeOf<T> result{grid, {}};
  result.data.resize(static_cast<std::size_t>(grid.voxels()));
  // Where both are, in the result's indices.
  Dims3 begin{};
  Dims3 end{};
  for (std::size_t axis = 0; axis < 3; ++axis) {
    begin[axis] = std::max<std::int64_t>(0, -first[axis]);
    end[axis] = std::min(dims[axis], volume.dims[axis] - first[axis]);
  }
  for (std::int64_t z = begin[2]; z < end[2]; ++z) {
    for (std::int64_t y = begin[1]; y < end[1]; ++y) {
      const T* row = &volume.data[volume.index(begin[0] + first[0], y + first[1], z + first[2])];
      std::copy_n(row, end[0] - begin[0], &result.data[result.index(begin[0], y, z)]);
    }
  }
  return result;
}

}  // namespace

LabelVolume crop_or_pad(const LabelVolume& volume, const Dims3& dims) {
  return crop_or_pad_volume(volume, dims);
}

Volume crop_or_pad(const Volume& volume, const Dims3& dims) {
  return crop_or_pad_volume(volume, dims);
}

}  // namespace mezzotint
