#include "imaging/crop_or_pad.h"

#include <algorithm>

namespace mezzotint {
namespace {

// The old index of the new voxel 0.
std::int64_t first_of(std::int64_t from, std::int64_t to) {
  return to >= from ? -((to - from + 1) / 2) : (from - to + 1) / 2;
}

Dims3 first_of(const Dims3& from, const Dims3& to) {
  return {first_of(from[0], to[0]), first_of(from[1], to[1]), first_of(from[2], to[2])};
}

template <typename T>
VolumeOf<T> crop_or_pad_volume(const VolumeOf<T>& volume, const Dims3& dims, T fill) {
  VolumeOf<T> result{crop_or_pad(static_cast<const Grid&>(volume), dims), {}};
  result.data.assign(static_cast<std::size_t>(result.voxels()), fill);
  const Dims3 first = first_of(volume.dims, dims);
  Dims3 begin{};  // of the new voxels that have an old one
  Dims3 end{};
  for (std::size_t a = 0; a < 3; ++a) {
    begin[a] = std::max<std::int64_t>(0, -first[a]);
    end[a] = std::min(dims[a], volume.dims[a] - first[a]);
  }
  for (std::int64_t z = begin[2]; z < end[2]; ++z) {
    for (std::int64_t y = begin[1]; y < end[1]; ++y) {
      const std::size_t from = volume.index(begin[0] + first[0], y + first[1], z + first[2]);
      std::copy_n(volume.data.begin() + static_cast<std::ptrdiff_t>(from), end[0] - begin[0],
                  result.data.begin() + static_cast<std::ptrdiff_t>(result.index(begin[0], y, z)));
    }
  }
  return result;
}

}  // namespace

Grid crop_or_pad(const Grid& grid, const Dims3& dims) {
  const Dims3 first = first_of(grid.dims, dims);
  Grid result{dims, grid.affine};
  const Vec3 origin =
      transform(grid.affine, {static_cast<double>(first[0]), static_cast<double>(first[1]),
                              static_cast<double>(first[2])});
  for (std::size_t row = 0; row < 3; ++row) {
    result.affine[row][3] = origin[row];
  }
  return result;
}

LabelVolume crop_or_pad(const LabelVolume& volume, const Dims3& dims, std::uint8_t fill) {
  return crop_or_pad_volume(volume, dims, fill);
}

Volume crop_or_pad(const Volume& volume, const Dims3& dims, float fill) {
  return crop_or_pad_volume(volume, dims, fill);
}

}  // namespace mezzotint
