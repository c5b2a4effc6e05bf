#include "formats/nifti_space.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/check.h"
#include "base/error.h"

namespace mezzotint {
namespace {

// xyzt_units, bits 0 to 2: 1 metre, 2 millimetre, 3 micrometre, 0 unknown (taken as mm).
double millimetres_per_unit(int xyzt_units) {
  switch (xyzt_units & 7) {
    case 1: return 1000;
    case 3: return 0.001;
    default: return 1;
  }
}

std::optional<Affine> usable(const NiftiGeometry& geometry, Affine affine) {
  const double unit = millimetres_per_unit(geometry.xyzt_units);
  for (std::size_t row = 0; row < 3; ++row) {
    for (double& entry : affine[row]) {
      entry *= unit;
    }
  }
  return is_usable(affine) ? std::optional(affine) : std::nullopt;
}

bool nearly_equal(const Vec3& a, const Vec3& b) {
  for (std::size_t i = 0; i < 3; ++i) {
    if (!(std::abs(a[i] - b[i]) <= 1e-3 * b[i])) {
      return false;
    }
  }
  return true;
}

// Largest distance between the places that two affines give to a corner of the volume.
double largest_shift(const NiftiHeader& header, const Affine& a, const Affine& b) {
  double largest = 0;
  for (unsigned corner = 0; corner < 8; ++corner) {
    Vec3 voxel{};
    for (std::size_t i = 0; i < 3; ++i) {
      voxel[i] = (corner >> i & 1) != 0 ? static_cast<double>(header.dims[i] - 1) : 0.0;
    }
    const Vec3 p = transform(a, voxel);
    const Vec3 q = transform(b, voxel);
    largest = std::max(largest, std::hypot(p[0] - q[0], p[1] - q[1], p[2] - q[2]));
  }
  return largest;
}

// The unit quaternion of the rotation nearest to the columns of `m`, its real part not negative.
// With q = (a, b, c, d) the rows of 4 q q^T are multiples of q, linear in the rotation's entries.
// The one with the largest diagonal is at least 1 long, so that nothing cancels, even at half
// turns.
std::array<double, 4> quaternion_of(const std::array<Vec3, 3>& m) {
  const double rows[4][4] = {
      {1 + m[0][0] + m[1][1] + m[2][2], m[2][1] - m[1][2], m[0][2] - m[2][0], m[1][0] - m[0][1]},
      {m[2][1] - m[1][2], 1 + m[0][0] - m[1][1] - m[2][2], m[0][1] + m[1][0], m[0][2] + m[2][0]},
      {m[0][2] - m[2][0], m[0][1] + m[1][0], 1 - m[0][0] + m[1][1] - m[2][2], m[1][2] + m[2][1]},
      {m[1][0] - m[0][1], m[0][2] + m[2][0], m[1][2] + m[2][1], 1 - m[0][0] - m[1][1] + m[2][2]}};
  std::size_t best = 0;
  for (std::size_t i = 1; i < 4; ++i) {
    best = rows[i][i] > rows[best][best] ? i : best;
  }
  std::array<double, 4> q{};
  std::copy_n(rows[best], 4, q.begin());
  const double length = std::hypot(std::hypot(q[0], q[1]), std::hypot(q[2], q[3]));
  const double divisor = q[0] < 0 ? -length : length;
  for (double& part : q) {
    part /= divisor;
  }
  return q;
}

// Takes back what the header says but no one can use, or that float32 cannot hold: copied into
// another header, it would be another reader's choice there.
void withdraw_unusable(NiftiHeader& header, bool sform_usable, bool qform_usable) {
  NiftiGeometry& geometry = header.geometry;
  if (!sform_usable) {
    geometry.sform_code = 0;
    geometry.srow = {};
  }
  if (!qform_usable) {
    geometry.qform_code = 0;
    geometry.quatern = {};
    geometry.qoffset = {};
  }
  auto& pixdim = geometry.pixdim;
  if (!affine_from_pixdim(geometry)) {
    const double unit = millimetres_per_unit(geometry.xyzt_units);
    for (std::size_t axis = 0; axis < 3; ++axis) {
      pixdim[axis + 1] = header.spacing[axis] / unit;
    }
  }
  constexpr double kLargest = std::numeric_limits<float>::max();
  if (!(std::abs(pixdim[0]) <= kLargest)) {
    pixdim[0] = pixdim[0] < 0 ? -1 : 1;
  }
  for (std::size_t i = 4; i < pixdim.size(); ++i) {
    if (!(std::abs(pixdim[i]) <= kLargest)) {
      pixdim[i] = 0;
    }
  }
}

void note_disagreement(NiftiHeader& header, const std::optional<Affine>& qform) {
  const auto& pixdim = header.geometry.pixdim;
  const double unit = millimetres_per_unit(header.geometry.xyzt_units);
  const Vec3 stated{pixdim[1] * unit, pixdim[2] * unit, pixdim[3] * unit};
  if (header.affine_source == AffineSource::kSform && !nearly_equal(stated, header.spacing)) {
    header.notes.push_back(fmt::format(
        "pixdim says voxels of {:g} x {:g} x {:g} mm, the sform {:g} x {:g} x {:g} mm; the sform "
        "is used",
        stated[0], stated[1], stated[2], header.spacing[0], header.spacing[1], header.spacing[2]));
  }
  if (header.affine_source == AffineSource::kSform && qform) {
    const double shift = largest_shift(header, header.affine, *qform);
    if (shift > 0.1 * *std::min_element(header.spacing.begin(), header.spacing.end())) {
      header.notes.push_back(fmt::format(
          "sform (code {}) and qform (code {}) differ by up to {:.3g} mm; the sform is used",
          header.geometry.sform_code, header.geometry.qform_code, shift));
    }
  }
}

}  // namespace

std::string_view name_of(AffineSource source) {
  switch (source) {
    case AffineSource::kSform: return "sform";
    case AffineSource::kQform: return "qform";
    case AffineSource::kPixdim: return "pixdim";
  }
  return "unknown";
}

std::optional<Affine> affine_from_sform(const NiftiGeometry& geometry) {
  Affine affine = identity_affine();
  std::copy(geometry.srow.begin(), geometry.srow.end(), affine.begin());
  return usable(geometry, affine);
}

// nifti1.h, "METHOD 2": rotation from a quaternion (a from b, c, d), the third column times qfac.
std::optional<Affine> affine_from_qform(const NiftiGeometry& geometry) {
  auto [b, c, d] = geometry.quatern;
  // Below this, a is the rounding of b, c and d in float32, and the rotation is half a turn.
  constexpr double kHalfTurn = 1e-7;
  // Longer than three decimals round to: no rotation. Shortened to length 1, any b, c and d would
  // pass for half a turn.
  constexpr double kLongestSquare = 1 + 1e-3;
  const double square = b * b + c * c + d * d;
  if (!(square <= kLongestSquare)) {
    return std::nullopt;
  }
  double a = std::sqrt(std::max(0.0, 1 - square));
  if (1 - square < kHalfTurn) {
    const double norm = std::sqrt(square);
    a = 0;
    b /= norm;
    c /= norm;
    d /= norm;
  }
  const auto& pixdim = geometry.pixdim;
  if (!(pixdim[1] > 0 && pixdim[2] > 0 && pixdim[3] > 0)) {
    return std::nullopt;
  }
  const double qfac = pixdim[0] < 0 ? -1 : 1;
  const double rotation[3][3] = {
      {a * a + b * b - c * c - d * d, 2 * (b * c - a * d), 2 * (b * d + a * c)},
      {2 * (b * c + a * d), a * a + c * c - b * b - d * d, 2 * (c * d - a * b)},
      {2 * (b * d - a * c), 2 * (c * d + a * b), a * a + d * d - b * b - c * c}};
  Affine affine = identity_affine();
  for (std::size_t row = 0; row < 3; ++row) {
    affine[row] = {rotation[row][0] * pixdim[1], rotation[row][1] * pixdim[2],
                   rotation[row][2] * pixdim[3] * qfac, geometry.qoffset[row]};
  }
  return usable(geometry, affine);
}

// nifti1.h, "METHOD 1".
std::optional<Affine> affine_from_pixdim(const NiftiGeometry& geometry) {
  const auto& pixdim = geometry.pixdim;
  if (!(pixdim[1] > 0 && pixdim[2] > 0 && pixdim[3] > 0)) {
    return std::nullopt;
  }
  return usable(geometry, scaling_affine({pixdim[1], pixdim[2], pixdim[3]}));
}

Result<NiftiGeometry> geometry_from_affine(const Affine& affine, int code) {
  constexpr int kMillimetres = 2;
  constexpr double kAgreement = 1e-4;
  check(code > 0, "a geometry that says nothing");
  const Vec3 spacing = column_norms(affine);
  if (!is_usable(affine)) {
    return invalid_input(
        "voxels of {:g} x {:g} x {:g} mm, the first at ({:.10g}, {:.10g}, {:.10g}), expected sizes "
        "of 1e-4 to 1e4 mm and a place within 1e7 mm",
        spacing[0], spacing[1], spacing[2], affine[0][3], affine[1][3], affine[2][3]);
  }
  NiftiGeometry geometry;
  geometry.sform_code = code;
  geometry.xyzt_units = kMillimetres;
  geometry.pixdim = {1, spacing[0], spacing[1], spacing[2], 1, 1, 1, 1};
  std::copy_n(affine.begin(), 3, geometry.srow.begin());

  NiftiGeometry with_qform = geometry;
  with_qform.qform_code = code;
  with_qform.pixdim[0] = determinant(affine) < 0 ? -1 : 1;
  std::array<Vec3, 3> rotation{};
  for (std::size_t row = 0; row < 3; ++row) {
    rotation[row] = {affine[row][0] / spacing[0], affine[row][1] / spacing[1],
                     affine[row][2] / spacing[2] * with_qform.pixdim[0]};
    with_qform.qoffset[row] = affine[row][3];
  }
  const std::array<double, 4> quaternion = quaternion_of(rotation);
  for (std::size_t i = 0; i < 3; ++i) {
    with_qform.quatern[i] = static_cast<float>(quaternion[i + 1]);
  }
  const auto read_back = affine_from_qform(with_qform);
  bool agrees = read_back.has_value();
  for (std::size_t i = 0; agrees && i < 9; ++i) {
    const double off = (*read_back)[i / 3][i % 3] - affine[i / 3][i % 3];
    agrees = std::abs(off) <= kAgreement * spacing[i % 3];
  }
  return agrees ? with_qform : geometry;
}

Status choose_affine(NiftiHeader& header, std::string_view what) {
  const NiftiGeometry& geometry = header.geometry;
  const auto sform = affine_from_sform(geometry);
  const auto qform = affine_from_qform(geometry);
  if (geometry.sform_code > 0 && sform) {
    header.affine = *sform;
    header.affine_source = AffineSource::kSform;
  } else if (geometry.qform_code > 0 && qform) {
    header.affine = *qform;
    header.affine_source = AffineSource::kQform;
  } else if (const auto pixdim = affine_from_pixdim(geometry)) {
    header.affine = *pixdim;
    header.affine_source = AffineSource::kPixdim;
  } else {
    return invalid_input(
        "{}: nothing places its voxels: sform code {}, qform code {}, voxel sizes {:g} x {:g} x "
        "{:g}, expected an invertible sform or positive voxel sizes; set the header's affine",
        what, geometry.sform_code, geometry.qform_code, geometry.pixdim[1], geometry.pixdim[2],
        geometry.pixdim[3]);
  }
  header.spacing = column_norms(header.affine);

  if (millimetres_per_unit(geometry.xyzt_units) != 1) {
    header.notes.push_back(fmt::format("sizes are stated in {} and taken as {:g} x {:g} x {:g} mm",
                                       (geometry.xyzt_units & 7) == 1 ? "metres" : "micrometres",
                                       header.spacing[0], header.spacing[1], header.spacing[2]));
  }
  if (geometry.sform_code > 0 && !sform) {
    header.notes.push_back(
        fmt::format("the sform (code {}) is singular or not finite; the {} is used",
                    geometry.sform_code, name_of(header.affine_source)));
  }
  if (geometry.qform_code > 0 && !qform) {
    header.notes.push_back(fmt::format(
        "the qform (code {}) is not finite, no rotation or without voxel sizes; the {} is used",
        geometry.qform_code, name_of(header.affine_source)));
  }
  if (header.affine_source == AffineSource::kPixdim) {
    header.notes.push_back(
        "the header does not state the orientation; axes are taken as right, anterior, superior, "
        "and left and right cannot be told apart");
  }
  note_disagreement(header, geometry.qform_code > 0 ? qform : std::nullopt);
  withdraw_unusable(header, sform.has_value(), qform.has_value());
  return {};
}

}  // namespace mezzotint
