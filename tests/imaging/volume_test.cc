#include "imaging/volume.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "imaging/reorient.h"

namespace mezzotint {
namespace {

// Rotation about z by `degrees`, then voxel sizes.
Affine rotated(double degrees, const Vec3& spacing) {
  const double angle = degrees / 180 * std::acos(-1.0);
  Affine rotation = identity_affine();
  rotation[0] = {std::cos(angle), -std::sin(angle), 0, 0};
  rotation[1] = {std::sin(angle), std::cos(angle), 0, 0};
  return multiply(rotation, scaling_affine(spacing));
}

TEST(Affine, InverseUndoes) {
  const Affine affine{{{1.5, 0.2, 0, -90}, {-0.3, 2, 0.5, -120}, {0, -0.5, 3, 7}, {0, 0, 0, 1}}};
  const auto undone = inverse(affine);
  ASSERT_TRUE(undone.has_value());
  const Affine product = multiply(*undone, affine);
  for (std::size_t i = 0; i < 16; ++i) {
    EXPECT_NEAR(product[i / 4][i % 4], i / 4 == i % 4 ? 1 : 0, 1e-12);
  }
  EXPECT_FALSE(inverse(scaling_affine({1, 0, 1})).has_value());
}

TEST(Affine, UsableRanges) {
  EXPECT_TRUE(is_usable(identity_affine()));
  EXPECT_FALSE(is_usable(scaling_affine({1, 1, 0})));
  EXPECT_FALSE(is_usable(scaling_affine({1, 1, 1e5})));
  EXPECT_FALSE(is_usable(scaling_affine({1, std::nan(""), 1})));
  EXPECT_FALSE(is_usable({{{1, 1, 0, 0}, {1, 1, 0, 0}, {0, 0, 1, 0}, {0, 0, 0, 1}}}));
  Affine far_away = identity_affine();
  far_away[2][3] = std::numeric_limits<double>::infinity();
  EXPECT_FALSE(is_usable(far_away));
}

TEST(VolumeTest, IndexRunsAlongX) {
  const LabelVolume volume{{{2, 3, 2}, identity_affine()}, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}};
  EXPECT_EQ(volume.voxels(), 12);
  EXPECT_EQ(volume.at(1, 0, 0), 1);
  EXPECT_EQ(volume.at(0, 1, 0), 2);
  EXPECT_EQ(volume.at(0, 0, 1), 6);
}

TEST(VolumeTest, OrientationCodes) {
  EXPECT_EQ(orientation_codes(identity_affine()), "RAS");
  EXPECT_EQ(orientation_codes(scaling_affine({-1, -2, 3})), "LPS");
  EXPECT_EQ(orientation_codes({{{0, 0, 2, 1}, {-3, 0, 0, 2}, {0, -1.5, 0, 3}, {0, 0, 0, 1}}}),
            "PIR");
  EXPECT_EQ(orientation_codes(rotated(40, {1, 1, 5})), "RAS");
  EXPECT_EQ(orientation_codes(rotated(50, {1, 1, 5})), "ALS");
  EXPECT_EQ(orientation_codes(rotated(180, {1, 1, 5})), "LPS");
}

TEST(VolumeTest, EachWorldAxisOccursOnceEvenAtATie) {
  const auto directions = axis_directions(rotated(45, {1, 1, 1}));
  EXPECT_EQ(directions[0], (AxisDirection{0, true}));
  EXPECT_EQ(directions[1], (AxisDirection{1, true}));
}

TEST(VolumeTest, FieldCentreAndGridDistance) {
  const Grid grid{{5, 5, 5}, scaling_affine({2, 2, 2})};
  EXPECT_EQ(field_centre(grid), (Vec3{4, 4, 4}));
  EXPECT_EQ(grid_distance(grid, grid), 0);
  Grid moved = grid;
  moved.affine[1][3] = 0.5;
  EXPECT_EQ(grid_distance(grid, moved), 0.5);
  EXPECT_EQ(grid_distance(grid, {{5, 5, 4}, grid.affine}), std::numeric_limits<double>::infinity());
}

// Every orientation there is: the values and their places in the world survive the way there, and
// the way back restores the volume exactly.
TEST(Reorient, RoundTripFromEveryOrientation) {
  const std::array<std::array<std::size_t, 3>, 6> orders{
      {{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}}};
  for (const auto& order : orders) {
    for (unsigned signs = 0; signs < 8; ++signs) {
      LabelVolume volume{{{2, 3, 4}, Affine{}}, std::vector<std::uint8_t>(24)};
      volume.affine[3][3] = 1;
      for (std::size_t axis = 0; axis < 3; ++axis) {
        volume.affine[order[axis]][axis] = (signs >> axis & 1) != 0 ? -2 : 2;
        volume.affine[axis][3] = static_cast<double>(axis) + 5;
      }
      for (std::size_t i = 0; i < 24; ++i) {
        volume.data[i] = static_cast<std::uint8_t>(i);
      }
      for (const char* frame : {"RAS+", "LPS+", "SAL"}) {
        const auto there = reorientation_to(volume.affine, frame);
        ASSERT_TRUE(there.ok()) << there.error().message;
        const LabelVolume moved = reorient(volume, *there);
        EXPECT_EQ(orientation_codes(moved.affine), std::string(frame).substr(0, 3));
        const LabelVolume back = reorient(moved, inverse(*there));
        EXPECT_EQ(back.dims, volume.dims);
        EXPECT_EQ(back.affine, volume.affine);
        EXPECT_EQ(back.data, volume.data);
        EXPECT_EQ(there->is_identity(),
                  orientation_codes(volume.affine) == orientation_codes(moved.affine));

        const Affine to_old = *inverse(volume.affine);
        for (std::int64_t z = 0; z < moved.dims[2]; ++z) {
          for (std::int64_t y = 0; y < moved.dims[1]; ++y) {
            for (std::int64_t x = 0; x < moved.dims[0]; ++x) {
              const Vec3 old = transform(
                  to_old, transform(moved.affine, {static_cast<double>(x), static_cast<double>(y),
                                                   static_cast<double>(z)}));
              EXPECT_EQ(moved.at(x, y, z),
                        volume.at(std::lround(old[0]), std::lround(old[1]), std::lround(old[2])));
            }
          }
        }
      }
    }
  }
}

TEST(Reorient, RefusesOtherFrames) {
  for (const char* frame : {"", "RA", "RAX", "RAR", "RLS", "RAS-", "ras", "RASS+"}) {
    const auto result = reorientation_to(identity_affine(), frame);
    ASSERT_FALSE(result.ok()) << frame;
    EXPECT_EQ(result.error().message,
              "frame \"" + std::string(frame) +
                  "\": expected one letter each of R/L, A/P and S/I, such as RAS+ or LPS+");
  }
}

}  // namespace
}  // namespace mezzotint
