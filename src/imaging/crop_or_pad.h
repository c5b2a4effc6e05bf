// Another extent around the same centre: voxels keep their values and world positions.
#pragma once

#include "imaging/volume.h"

namespace mezzotint {

// Planes are cut or added at both ends of each axis, half and half; of an odd number, the larger
// part in front (at low indices), as torchio's CropOrPad does. Added voxels are 0. dims: all
// positive.
[[nodiscard]] LabelVolume crop_or_pad(const LabelVolume& volume, const Dims3& dims);
[[nodiscard]] Volume crop_or_pad(const Volume& volume, const Dims3& dims);

}  // namespace mezzotint
