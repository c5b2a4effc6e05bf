// From a header's spatial fields to one affine.
#pragma once

#include <optional>
#include <string_view>

#include "formats/nifti.h"

namespace mezzotint {

// The three ways of NIfTI to place voxels, in mm; nothing when the fields are not usable.
[[nodiscard]] std::optional<Affine> affine_from_sform(const NiftiGeometry& geometry);
[[nodiscard]] std::optional<Affine> affine_from_qform(const NiftiGeometry& geometry);
[[nodiscard]] std::optional<Affine> affine_from_pixdim(const NiftiGeometry& geometry);

// A geometry that says `affine` (mm): sform with `code` (NIfTI's xform code: 1 scanner,
// 2 aligned to something, 4 MNI 152), pixdim the columns' lengths, xyzt_units mm. The qform says it
// too, with the same code, where a quaternion in float32 can: to 1e-4 of a voxel's step along each
// axis. It cannot state a shear, nor a rotation that is hardly less than half a turn; its code is 0
// then. kInvalidInput for an affine that is not usable, as one may become when a grid's first voxel
// moves.
[[nodiscard]] Result<NiftiGeometry> geometry_from_affine(const Affine& affine, int code = 2);

// Sets header.affine, affine_source and spacing from header.geometry, notes each choice that is not
// the plain one, and leaves in header.geometry what can be used. kInvalidInput when nothing in the
// header places the voxels.
Status choose_affine(NiftiHeader& header, std::string_view what);

}  // namespace mezzotint
