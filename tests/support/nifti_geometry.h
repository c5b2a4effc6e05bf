#pragma once

#include "base/affine.h"
#include "formats/nifti.h"

namespace mezzotint::testing {

// A geometry whose sform says `affine` (code 2, aligned) and whose qform is unused.
[[nodiscard]] NiftiGeometry geometry_from_affine(const Affine& affine);

}  // namespace mezzotint::testing
