// Labels to the condition channels of a model.
#pragma once

#include <cstdint>
#include <span>

#include "imaging/volume.h"

namespace mezzotint {

// One channel per entry of `labels`: `on` where the voxel has that label, else `off`. out is
// [C][z][y][x], labels.size() * volume.voxels() values. Whole-head: labels {1, 2}, off -1, on 1;
// BraTS: labels {1, 2, 3, 4}, off 0, on 1.
void encode_labels(const LabelVolume& volume, std::span<const int> labels, float off, float on,
                   std::span<float> out);

// The reference's way with another size: each 0/1 channel is resized linearly to `dims` (half-pixel
// positions, edges clamped, no smoothing) and then mapped from 0..1 to off..on, so fractions appear
// that the model never saw in training.
void encode_labels_resized(const LabelVolume& volume, std::span<const int> labels,
                           const Dims3& dims, float off, float on, std::span<float> out);

}  // namespace mezzotint
