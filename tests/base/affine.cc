#include "base/affine.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace mezzotint {
namespace {

// Turned by 30 degrees about z, stretched, moved, with one axis flipped: a usual scanner's.
Affine scanner() {
  const double c = std::cos(0.5235987755982988);
  const double s = 0.5;
  return {
      {{-1.5 * c, -0.9 * s, 0, 90}, {-1.5 * s, 0.9 * c, 0, -126}, {0, 0, 2, -72}, {0, 0, 0, 1}}};
}

TEST(Affine, TransformIsTheMatrixProduct) {
  const Affine affine = {{{1, 2, 3, 4}, {5, 6, 7, 8}, {9, 10, 11, 12}, {0, 0, 0, 1}}};
  EXPECT_EQ(transform(affine, {1, 10, 100}), (Vec3{325, 773, 1221}));
  EXPECT_EQ(transform(identity_affine(), {1, 2, 3}), (Vec3{1, 2, 3}));
  EXPECT_EQ(transform(scaling_affine({2, 3, 4}), {1, 1, 1}), (Vec3{2, 3, 4}));
}

TEST(Affine, MultiplyAppliesTheRightOneFirst) {
  const Affine shift = {{{1, 0, 0, 5}, {0, 1, 0, 0}, {0, 0, 1, 0}, {0, 0, 0, 1}}};
  const Affine scale = scaling_affine({2, 2, 2});
  EXPECT_EQ(transform(multiply(scale, shift), {1, 0, 0}), (Vec3{12, 0, 0}));
  EXPECT_EQ(transform(multiply(shift, scale), {1, 0, 0}), (Vec3{7, 0, 0}));
}

TEST(Affine, ColumnNormsAreTheVoxelSize) {
  const Vec3 norms = column_norms(scanner());
  EXPECT_NEAR(norms[0], 1.5, 1e-14);
  EXPECT_NEAR(norms[1], 0.9, 1e-14);
  EXPECT_NEAR(norms[2], 2.0, 1e-14);
}

TEST(Affine, DeterminantIsTheSignedVolumeOfAVoxel) {
  EXPECT_EQ(determinant(scaling_affine({2, 3, -4})), -24);
  EXPECT_EQ(determinant({{{0, 5, 0, 9}, {0, 0, 2, 9}, {3, 0, 0, 9}, {0, 0, 0, 1}}}), 30);
}

TEST(Affine, InverseLeadsBack) {
  const auto back = inverse(scanner());
  ASSERT_TRUE(back.has_value());
  const Vec3 voxel = {12, -7, 140};
  const Vec3 again = transform(*back, transform(scanner(), voxel));
  for (int i = 0; i < 3; ++i) {
    EXPECT_NEAR(again[i], voxel[i], 1e-12);
  }
}

TEST(Affine, RefusesWhatCannotBeInverted) {
  EXPECT_TRUE(is_usable(scanner()));
  EXPECT_FALSE(inverse(scaling_affine({1, 0, 1})).has_value());
  EXPECT_FALSE(is_usable(scaling_affine({1, 0, 1})));
  Affine flat = scanner();
  for (auto& row : flat) {
    row[1] = row[0];
  }
  EXPECT_FALSE(is_usable(flat)) << "two equal columns";
  Affine broken = scanner();
  broken[1][3] = std::numeric_limits<double>::quiet_NaN();
  EXPECT_FALSE(is_usable(broken));
  EXPECT_FALSE(inverse(broken).has_value());
  EXPECT_FALSE(is_usable(scaling_affine({1e5, 1, 1})));
  EXPECT_FALSE(is_usable(scaling_affine({1e-5, 1, 1})));
}

}  // namespace
}  // namespace mezzotint
