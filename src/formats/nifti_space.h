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

// Sets header.affine, affine_source and spacing from header.geometry, and notes each choice that is
// not the plain one. kInvalidInput when nothing in the header places the voxels.
Status choose_affine(NiftiHeader& header, std::string_view what);

}  // namespace mezzotint
