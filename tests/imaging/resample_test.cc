#include "imaging/resample.h"

#include <gtest/gtest.h>

#include <cmath>

#include "imaging/labels.h"

namespace mezzotint {
namespace {

Grid grid_of(const Dims3& dims, const Vec3& spacing, const Vec3& origin) {
  Grid grid{dims, scaling_affine(spacing)};
  for (std::size_t i = 0; i < 3; ++i) {
    grid.affine[i][3] = origin[i];
  }
  return grid;
}

// Label 1 within `radius` mm of `centre`, label 2 within a third of it.
LabelVolume ball(const Grid& grid, const Vec3& centre, double radius) {
  LabelVolume volume{grid, {}};
  for (std::int64_t z = 0; z < grid.dims[2]; ++z) {
    for (std::int64_t y = 0; y < grid.dims[1]; ++y) {
      for (std::int64_t x = 0; x < grid.dims[0]; ++x) {
        const Vec3 p = transform(
            grid.affine, {static_cast<double>(x), static_cast<double>(y), static_cast<double>(z)});
        const double r = std::hypot(p[0] - centre[0], p[1] - centre[1], p[2] - centre[2]);
        volume.data.push_back(r <= radius / 3 ? 2 : r <= radius ? 1 : 0);
      }
    }
  }
  return volume;
}

// A function of the place that linear interpolation gives back exactly.
float linear_field(const Vec3& p) {
  return static_cast<float>(0.25 * p[0] - 0.5 * p[1] + 0.125 * p[2] + 3);
}

Volume linear_volume(const Grid& grid) {
  Volume volume{grid, {}};
  for (std::int64_t z = 0; z < grid.dims[2]; ++z) {
    for (std::int64_t y = 0; y < grid.dims[1]; ++y) {
      for (std::int64_t x = 0; x < grid.dims[0]; ++x) {
        volume.data.push_back(
            linear_field(transform(grid.affine, {static_cast<double>(x), static_cast<double>(y),
                                                 static_cast<double>(z)})));
      }
    }
  }
  return volume;
}

TEST(GridAround, SharesTheCentreAndFollowsTheFrame) {
  const Grid field = grid_of({182, 218, 181}, {1, 1, 1}, {-90.5, -126, -72});
  for (const char* frame : {"RAS+", "LPS+", "PIR"}) {
    const auto grid = grid_around(field, {128, 120, 112}, {1.5, 1.25, 2}, frame);
    ASSERT_TRUE(grid.ok()) << grid.error().message;
    EXPECT_EQ(orientation_codes(grid->affine), std::string(frame).substr(0, 3));
    EXPECT_EQ(column_norms(grid->affine), (Vec3{1.5, 1.25, 2}));
    for (std::size_t i = 0; i < 3; ++i) {
      EXPECT_NEAR(field_centre(*grid)[i], field_centre(field)[i], 1e-9);
    }
  }
  const auto wrong = grid_around(field, {8, 8, 8}, {1, 1, 1}, "XYZ");
  ASSERT_FALSE(wrong.ok());
  EXPECT_NE(wrong.error().message.find("frame \"XYZ\""), std::string::npos);
}

TEST(StretchedGrid, CoversTheSameField) {
  const Grid field = grid_of({64, 32, 10}, {1, 2, 3}, {5, 6, 7});
  const Grid stretched = stretched_grid(field, {32, 32, 30});
  const Vec3 spacing = column_norms(stretched.affine);
  EXPECT_NEAR(spacing[0], 2, 1e-12);
  EXPECT_NEAR(spacing[1], 2, 1e-12);
  EXPECT_NEAR(spacing[2], 1, 1e-12);
  for (const double edge : {0.0, 1.0}) {  // both corners of the field of view
    const Vec3 a = transform(field.affine, {edge * 64 - 0.5, edge * 32 - 0.5, edge * 10 - 0.5});
    const Vec3 b = transform(stretched.affine, {edge * 32 - 0.5, edge * 32 - 0.5, edge * 30 - 0.5});
    for (std::size_t i = 0; i < 3; ++i) {
      EXPECT_NEAR(a[i], b[i], 1e-9);
    }
  }
}

TEST(ResampleLabels, TheSameGridChangesNothing) {
  const LabelVolume mask =
      ball(grid_of({20, 18, 16}, {1.1, 1.3, 1.7}, {-9.7, -11, -13}), {0, 0, 0}, 8);
  Grid target = mask;
  target.affine[0][3] += 1e-9;  // as rounding leaves it
  EXPECT_EQ(resample_labels(mask, target).data, mask.data);
}

// A ball stays a ball of the same volume and place on a coarser, a finer and a rotated grid.
TEST(ResampleLabels, KeepsVolumeAndPlaceInTheWorld) {
  const Vec3 centre{3, -4, 5};
  const LabelVolume mask =
      ball(grid_of({60, 60, 60}, {1, 1, 1}, {-29.5, -29.5, -29.5}), centre, 20);
  Grid rotated = grid_of({50, 50, 50}, {1.5, 1.5, 1.5}, {0, 0, 0});
  const double c = std::sqrt(0.5);
  rotated.affine = {
      {{1.5 * c, -1.5 * c, 0, 0}, {1.5 * c, 1.5 * c, 0, -52}, {0, 0, 1.5, -36.75}, {0, 0, 0, 1}}};
  for (const Grid& target : {grid_of({30, 30, 30}, {2, 2, 2}, {-29, -29, -29}),
                             grid_of({90, 90, 90}, {0.7, 0.7, 0.7}, {-29, -29, -29}), rotated}) {
    const LabelVolume moved = resample_labels(mask, target);
    const Vec3 spacing = column_norms(target.affine);
    const LabelCounts counts = count_labels(moved);
    const double volume =
        static_cast<double>(counts[1] + counts[2]) * spacing[0] * spacing[1] * spacing[2];
    const double expected = 4.0 / 3 * std::acos(-1.0) * 20 * 20 * 20;
    EXPECT_NEAR(volume / expected, 1, 0.02);
    // Only voxels within a voxel's diagonal of a surface may be labelled otherwise.
    const LabelVolume direct = ball(target, centre, 20);
    for (std::size_t i = 0; i < direct.data.size(); ++i) {
      if (moved.data[i] == direct.data[i]) {
        continue;
      }
      const auto x = static_cast<std::int64_t>(i) % target.dims[0];
      const auto y = static_cast<std::int64_t>(i) / target.dims[0] % target.dims[1];
      const auto z = static_cast<std::int64_t>(i) / target.dims[0] / target.dims[1];
      const Vec3 p = transform(
          target.affine, {static_cast<double>(x), static_cast<double>(y), static_cast<double>(z)});
      const double r = std::hypot(p[0] - centre[0], p[1] - centre[1], p[2] - centre[2]);
      EXPECT_LT(std::min(std::abs(r - 20), std::abs(r - 20.0 / 3)), std::sqrt(3.0));
    }
  }
}

TEST(ResampleLabels, TiesGoToTheLowerLabel) {
  // The target's voxel is exactly between two voxels.
  for (const auto& [left, right] : {std::pair<int, int>{1, 2}, {2, 1}, {0, 2}, {2, 0}}) {
    LabelVolume mask{grid_of({4, 1, 1}, {1, 1, 1}, {0, 0, 0}), {}};
    mask.data = {static_cast<std::uint8_t>(left), static_cast<std::uint8_t>(right), 1, 1};
    const LabelVolume half = resample_labels(mask, grid_of({2, 1, 1}, {2, 1, 1}, {0.5, 0, 0}));
    EXPECT_EQ(half.data[0], std::min(left, right));
  }
}

TEST(ResampleLabels, ThreeLabelsAroundAPoint) {
  // 3 has 0.25 + 0.25 against 0.25 of 1 and of 2: the sum counts, not the nearest voxel.
  LabelVolume mask{grid_of({2, 2, 1}, {1, 1, 1}, {0, 0, 0}), {1, 3, 3, 2}};
  const LabelVolume centre = resample_labels(mask, grid_of({1, 1, 1}, {1, 1, 1}, {0.45, 0.5, 0}));
  EXPECT_EQ(centre.data[0], 3);
}

TEST(ResampleLabels, OutsideIsBackgroundAndTheOuterHalfVoxelIsInside) {
  const LabelVolume mask{grid_of({2, 2, 2}, {1, 1, 1}, {0, 0, 0}), std::vector<std::uint8_t>(8, 1)};
  const LabelVolume wide = resample_labels(mask, grid_of({7, 1, 1}, {0.5, 1, 1}, {-1, 0, 0}));
  EXPECT_EQ(wide.data, (std::vector<std::uint8_t>{0, 1, 1, 1, 1, 1, 0}));
}

// The translations of two headers differ by their float32 rounding, the voxels by nothing.
TEST(ResampleLinear, IgnoresHowTheCentreWasRounded) {
  Volume volume{grid_of({9, 8, 7}, {1.3, 0.7, 2.1}, {-3.3, 1.7, 9.1}), {}};
  for (std::int64_t i = 0; i < volume.voxels(); ++i) {
    volume.data.push_back(static_cast<float>(std::sin(static_cast<double>(i) * 1.7)));
  }
  const auto around = grid_around(volume, {6, 6, 6}, {1.1, 1.2, 1.7}, "RAS+");
  ASSERT_TRUE(around.ok());
  Grid shifted = *around;
  shifted.affine[0][3] += 3e-8;
  shifted.affine[2][3] -= 5e-8;
  EXPECT_EQ(resample_linear(volume, *around, -1).data, resample_linear(volume, shifted, -1).data);
  shifted.affine[0][3] += 1e-3;
  EXPECT_NE(resample_linear(volume, *around, -1).data, resample_linear(volume, shifted, -1).data);
}

TEST(CountLabelsWithin, CountsVoxelsWhoseCentresAreInTheField) {
  const LabelVolume mask{grid_of({6, 1, 1}, {1, 1, 1}, {0, 0, 0}), {1, 1, 2, 0, 2, 1}};
  // The field of view is -0.5 to 4.5: the last voxel is outside.
  LabelCounts counts = count_labels_within(mask, grid_of({5, 1, 1}, {1, 1, 1}, {0, 0, 0}));
  EXPECT_EQ(counts[1], 2);
  EXPECT_EQ(counts[2], 2);
  EXPECT_EQ(counts[0], 0) << "background is not counted";
  // -1 to 1, its ends included.
  counts = count_labels_within(mask, grid_of({1, 1, 1}, {2, 1, 1}, {0, 0, 0}));
  EXPECT_EQ(counts[1], 2);
  EXPECT_EQ(counts[2], 0);
}

TEST(ResampleLinear, GivesALinearFieldBackOnAnyGrid) {
  const Volume volume = linear_volume(grid_of({12, 10, 8}, {2, 2, 3}, {-11, -9, -10}));
  Grid oblique = grid_of({6, 6, 6}, {1, 1, 1}, {0, 0, 0});
  oblique.affine = {{{0.9, 0.4, 0, -4}, {-0.4, 0.9, 0.1, -2}, {0, 0, 1.3, -3}, {0, 0, 0, 1}}};
  const Volume moved = resample_linear(volume, oblique, -100);
  const Volume expected = linear_volume(oblique);
  for (std::size_t i = 0; i < expected.data.size(); ++i) {
    // Values up to 8, of which float32 holds 4.8e-7: the corners' and the result's rounding.
    EXPECT_NEAR(moved.data[i], expected.data[i], 1e-6);
  }
}

TEST(ResampleLinear, OutsideTakesTheGivenValue) {
  const Volume volume{grid_of({2, 1, 1}, {1, 1, 1}, {0, 0, 0}), {0.25F, 0.75F}};
  const Volume wide = resample_linear(volume, grid_of({7, 1, 1}, {0.5, 1, 1}, {-1, 0, 0}), -1);
  EXPECT_EQ(wide.data, (std::vector<float>{-1, 0.25F, 0.25F, 0.5F, 0.75F, 0.75F, -1}));
}

TEST(ResampleLinear, TheSameGridGivesTheSameBits) {
  Volume volume{grid_of({9, 8, 7}, {1.3, 0.7, 2.1}, {-3.3, 1.7, 9.1}), {}};
  for (std::int64_t i = 0; i < volume.voxels(); ++i) {
    volume.data.push_back(static_cast<float>(std::sin(static_cast<double>(i) * 1.7)));
  }
  Grid target = volume;
  target.affine[2][3] += 1e-9;
  EXPECT_EQ(resample_linear(volume, target, -1).data, volume.data);
}

}  // namespace
}  // namespace mezzotint
