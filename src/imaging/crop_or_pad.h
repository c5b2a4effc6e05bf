// Whole voxels added to a volume's sides, or cut off: what stays keeps its value and its place.
#pragma once

#include <cstdint>

#include "imaging/volume.h"

namespace mezzotint {

// `dims` voxels around the middle. Of an odd number of planes the odd one is added or cut in front,
// as torchio's CropOrPad does, so that going back to the old dims is the exact inverse.
[[nodiscard]] Grid crop_or_pad(const Grid& grid, const Dims3& dims);
// New voxels are `fill`.
[[nodiscard]] LabelVolume crop_or_pad(const LabelVolume& volume, const Dims3& dims,
                                      std::uint8_t fill);
[[nodiscard]] Volume crop_or_pad(const Volume& volume, const Dims3& dims, float fill);

}  // namespace mezzotint
