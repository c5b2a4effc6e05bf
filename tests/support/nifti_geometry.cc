#include "support/nifti_geometry.h"

#include <algorithm>

namespace mezzotint::testing {

NiftiGeometry geometry_from_affine(const Affine& affine) {
  constexpr int kAlignedAnatomy = 2;
  constexpr int kMillimetres = 2;
  NiftiGeometry geometry;
  geometry.sform_code = kAlignedAnatomy;
  geometry.xyzt_units = kMillimetres;
  const Vec3 norms = column_norms(affine);
  geometry.pixdim = {1, norms[0], norms[1], norms[2], 1, 1, 1, 1};
  std::copy_n(affine.begin(), 3, geometry.srow.begin());
  return geometry;
}

}  // namespace mezzotint::testing
