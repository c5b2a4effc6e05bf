// From one grid to another by world coordinates.
#pragma once

#include <string_view>

#include "imaging/labels.h"
#include "imaging/volume.h"
#include "mezzotint/result.h"

namespace mezzotint {

// A grid of `dims` voxels of `spacing` mm, axes along the world's in the order and direction of
// `frame` ("RAS+", "LPS+"), whose centre is the centre of `field`. kInvalidInput for another frame.
[[nodiscard]] Result<Grid> grid_around(const Grid& field, const Dims3& dims, const Vec3& spacing,
                                       std::string_view frame);

// `dims` voxels over exactly the field of view of `field`: for a model whose spacing is unknown.
[[nodiscard]] Grid stretched_grid(const Grid& field, const Dims3& dims);

// Below, grids whose centres agree within 1e-6 voxels are taken to share one, so that copies of a
// volume whose affines were rounded differently give the same bits. All affines are usable.

// At each target voxel the label with the largest sum of trilinear weights; weights within 1e-6 are
// equal and go to the lower label. Positions in the outer half voxel take the edge's value; beyond
// the field of view is background.
[[nodiscard]] LabelVolume resample_labels(const LabelVolume& volume, const Grid& target);

// Trilinear, same positions; `outside` beyond the field of view of `volume`.
[[nodiscard]] Volume resample_linear(const Volume& volume, const Grid& target, float outside);

// The voxels of each label whose centres lie in the field of view of `grid`.
[[nodiscard]] LabelCounts count_labels_within(const LabelVolume& volume, const Grid& grid);

}  // namespace mezzotint
