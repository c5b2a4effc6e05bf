// A finished BraTS result in the form in which the reference's sample_brats.py leaves it: the size,
// the axes, the labels and the range of the challenge's own files.
#pragma once

#include <cstdint>
#include <span>

#include "imaging/volume.h"

namespace mezzotint {

inline constexpr Dims3 kBratsDims{240, 240, 155};

// The smallest value becomes 0, the largest 1, linearly between, in float32. All values are finite.
// Values that are all equal have no range and become 0 (the reference leaves them as they are,
// which may be outside 0..1).
void rescale_to_unit(std::span<float> values);

// The challenge's labels from those of a condition: 4 (the rest of the brain) becomes 0, 1 and 2
// change places, 3 stays. All labels are 0 to 4.
void exchange_labels(std::span<std::uint8_t> labels);

// The grid of what is exported from `grid`: turned to LPS+, then cropped or padded to kBratsDims.
// Its first voxel may lie beyond what a header can say.
[[nodiscard]] Grid brats_grid(const Grid& grid);

// One modality: rescaled over the whole volume, brought to brats_grid(), padded with 0. The world
// position of every voxel stays; so does the spacing, which in BraTS files is 1 mm. A volume that
// is LPS+ and of that size already is not copied: move it in.
[[nodiscard]] Volume brats_export(Volume volume);

// The mask: its labels exchanged, then axes and size as above.
[[nodiscard]] LabelVolume brats_export(LabelVolume mask);

}  // namespace mezzotint
