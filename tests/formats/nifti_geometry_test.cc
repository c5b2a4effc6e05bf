// Headers that state an affine: what is written is what every way of reading it gives back.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

#include "formats/nifti.h"
#include "formats/nifti_space.h"
#include "support/random_fill.h"

namespace mezzotint {
namespace {

constexpr double kHalfTurn = std::numbers::pi;
constexpr Vec3 kSpacing{1.5, 2, 0.9};
constexpr Vec3 kOrigin{-24.25, 215.5, 6.125};

// By Rodrigues' formula; `axis` need not have length 1.
Affine rotation(Vec3 axis, double angle) {
  const double norm = std::hypot(axis[0], axis[1], axis[2]);
  for (double& part : axis) {
    part /= norm;
  }
  const double cross[3][3] = {
      {0, -axis[2], axis[1]}, {axis[2], 0, -axis[0]}, {-axis[1], axis[0], 0}};
  Affine result = scaling_affine({std::cos(angle), std::cos(angle), std::cos(angle)});
  for (std::size_t row = 0; row < 3; ++row) {
    for (std::size_t column = 0; column < 3; ++column) {
      result[row][column] +=
          (1 - std::cos(angle)) * axis[row] * axis[column] + std::sin(angle) * cross[row][column];
    }
  }
  return result;
}

Affine placed(Affine turn, const Vec3& spacing) {
  turn = multiply(turn, scaling_affine(spacing));
  for (std::size_t row = 0; row < 3; ++row) {
    turn[row][3] = kOrigin[row];
  }
  return turn;
}

// The largest difference of two affines, as a part of a voxel's step along the axis.
double departure(const Affine& a, const Affine& b) {
  const Vec3 spacing = column_norms(b);
  double largest = 0;
  for (std::size_t i = 0; i < 9; ++i) {
    largest = std::max(largest, std::abs(a[i / 3][i % 3] - b[i / 3][i % 3]) / spacing[i % 3]);
  }
  return largest;
}

// b, c and d are each off by half a unit in the last place (h), so a by sqrt(3) h / a; an entry of
// the rotation is quadratic in them, so off by 2 sqrt(3) h (1 + 1 / a). At half turns a is exact.
double rounding_of_qform(double a) {
  constexpr double kHalfUlp = 0x1p-25;
  return 2 * std::sqrt(3.0) * kHalfUlp * (1 + 1 / a);
}

void expect_both_forms(const Affine& affine, double tolerance) {
  const NiftiGeometry geometry = *geometry_from_affine(affine, 4);
  EXPECT_EQ(geometry.sform_code, 4);
  EXPECT_EQ(geometry.qform_code, 4);
  EXPECT_EQ(geometry.xyzt_units, 2);
  EXPECT_EQ(geometry.pixdim[0], determinant(affine) < 0 ? -1 : 1);
  EXPECT_EQ((Vec3{geometry.pixdim[1], geometry.pixdim[2], geometry.pixdim[3]}),
            column_norms(affine));
  const auto sform = affine_from_sform(geometry);
  const auto qform = affine_from_qform(geometry);
  ASSERT_TRUE(sform && qform);
  EXPECT_EQ(*sform, affine);
  EXPECT_LE(departure(*qform, affine), tolerance);
  for (std::size_t row = 0; row < 3; ++row) {
    EXPECT_EQ((*qform)[row][3], affine[row][3]);
  }
}

void expect_sform_alone(const Affine& affine) {
  const NiftiGeometry geometry = *geometry_from_affine(affine);
  EXPECT_EQ(geometry.sform_code, 2);
  EXPECT_EQ(*affine_from_sform(geometry), affine);
  EXPECT_EQ(geometry.qform_code, 0);
  EXPECT_EQ(geometry.pixdim[0], 1);
  EXPECT_EQ(geometry.quatern, (std::array<double, 3>{}));
  EXPECT_EQ(geometry.qoffset, (std::array<double, 3>{}));
}

// All permutations of the axes with all signs. The least a that is not 0 is 1/2.
TEST(NiftiGeometryTest, EveryOrientation) {
  std::array<std::size_t, 3> order{0, 1, 2};
  do {
    for (unsigned signs = 0; signs < 8; ++signs) {
      Affine turn{};
      turn[3][3] = 1;
      for (std::size_t axis = 0; axis < 3; ++axis) {
        turn[order[axis]][axis] = (signs >> axis & 1) != 0 ? -1 : 1;
      }
      const Affine affine = placed(turn, kSpacing);
      expect_both_forms(affine, rounding_of_qform(0.5));

      auto file =
          encode_nifti(*geometry_from_affine(affine), {4, 3, 2}, std::vector<float>(24), "");
      ASSERT_TRUE(file.ok()) << file.error().message;
      const auto image = decode_nifti(std::move(*file), "volume.nii");
      ASSERT_TRUE(image.ok()) << image.error().message;
      EXPECT_TRUE(image->header.notes.empty()) << image->header.notes[0];
    }
  } while (std::next_permutation(order.begin(), order.end()));
}

// Reordering a grid's axes moves its first voxel: from within what a header can say to beyond.
TEST(NiftiGeometryTest, RefusesAPlaceThatNoHeaderCanSay) {
  Affine affine = scaling_affine({100, 100, 100});
  affine[0][3] = 1e7;
  EXPECT_TRUE(geometry_from_affine(affine).ok());
  affine[0][3] = 10'013'900;
  const auto geometry = geometry_from_affine(affine);
  ASSERT_FALSE(geometry.ok());
  EXPECT_EQ(geometry.error().message,
            "voxels of 100 x 100 x 100 mm, the first at (10013900, 0, 0), expected sizes of 1e-4 "
            "to 1e4 mm and a place within 1e7 mm");
}

TEST(NiftiGeometryTest, RandomRotations) {
  const std::vector<float> random = testing::random_floats(4000, 17, -1, 1);
  for (std::size_t i = 0; i < random.size(); i += 4) {
    // Up to angles whose a is 0.05.
    const double angle = 2 * std::acos(0.05) * random[i];
    const Vec3 axis{random[i + 1], random[i + 2], random[i + 3]};
    // qfac takes the third column's sign, and leaves the rotation.
    const Affine affine = placed(rotation(axis, angle), {1.5, 2, i % 8 == 0 ? 0.9 : -0.9});
    expect_both_forms(affine, rounding_of_qform(std::cos(angle / 2)));
  }
}

// An a below 3e-4 is read as 0, since float32 cannot state it: such a rotation has no qform unless
// that hardly moves anything.
TEST(NiftiGeometryTest, HalfTurns) {
  const std::vector<float> random = testing::random_floats(300, 23, -1, 1);
  for (std::size_t i = 0; i < random.size(); i += 3) {
    const Vec3 axis{random[i], random[i + 1], random[i + 2]};
    for (const double missing : {0.0, 1e-9, 1e-7, 1e-5, 3e-3, 1e-2}) {
      expect_both_forms(placed(rotation(axis, kHalfTurn - missing), kSpacing), 1e-4);
    }
    expect_sform_alone(placed(rotation(axis, kHalfTurn - 3e-4), kSpacing));
  }
}

TEST(NiftiGeometryTest, ShearHasNoQform) {
  Affine shear = identity_affine();
  shear[0][1] = 1e-3;
  expect_sform_alone(placed(shear, kSpacing));
  expect_sform_alone(placed(multiply(rotation({1, 2, 3}, 0.5), shear), kSpacing));
  expect_sform_alone(
      {{{1.5, 0.25, 0, -90}, {-0.25, 2, 0.5, -120}, {0, -0.5, 3, -70}, {0, 0, 0, 1}}});
  // What rounding a header's decimals leaves is no shear.
  shear[0][1] = 1e-5;
  expect_both_forms(placed(shear, kSpacing), 1e-5);
}

}  // namespace
}  // namespace mezzotint
