#include "imaging/crop_or_pad.h"

#include <gtest/gtest.h>

#include <numeric>

namespace mezzotint {
namespace {

// Values 1, 2, 3, ... in memory order.
Volume counted(const Dims3& dims, const Affine& affine) {
  Volume volume{{dims, affine}, {}};
  volume.data.resize(static_cast<std::size_t>(volume.voxels()));
  std::iota(volume.data.begin(), volume.data.end(), 1.0F);
  return volume;
}

TEST(CropOrPad, TheOddPlaneIsInFront) {
  const Volume row = counted({3, 1, 1}, identity_affine());
  EXPECT_EQ(crop_or_pad(row, {6, 1, 1}, -1).data, (std::vector<float>{-1, -1, 1, 2, 3, -1}));
  EXPECT_EQ(crop_or_pad(row, {5, 1, 1}, -1).data, (std::vector<float>{-1, 1, 2, 3, -1}));
  EXPECT_EQ(crop_or_pad(row, {2, 1, 1}, -1).data, (std::vector<float>{2, 3}));
  EXPECT_EQ(crop_or_pad(row, {1, 1, 1}, -1).data, (std::vector<float>{2}));
}

TEST(CropOrPad, EachAxisForItself) {
  // x is cropped, y kept, z padded.
  const Volume volume = counted({4, 2, 1}, identity_affine());
  EXPECT_EQ(crop_or_pad(volume, {2, 2, 2}, 0).data, (std::vector<float>{0, 0, 0, 0, 2, 3, 6, 7}));
}

// Every voxel that stays keeps its place in the world.
TEST(CropOrPad, TheAffineMovesAlong) {
  const Affine oblique{{{0, -2, 0.5, 3}, {1, 0.25, 0, -7}, {0, 0, 3, 11}, {0, 0, 0, 1}}};
  const Volume volume = counted({5, 6, 7}, oblique);
  const Volume moved = crop_or_pad(volume, {8, 3, 7}, 0);
  EXPECT_EQ(grid_distance(moved, crop_or_pad(static_cast<const Grid&>(volume), {8, 3, 7})), 0);
  // 8 - 5 = 3 planes of x, two in front; 6 - 3 = 3 planes of y, two in front.
  ASSERT_EQ(moved.at(2, 0, 0), volume.at(0, 2, 0));
  EXPECT_EQ(transform(moved.affine, {2, 0, 0}), transform(oblique, {0, 2, 0}));
}

// Raw BraTS is 240x240x155 from 0, 239, 0; the reference's own prepared files start at -24, 215, 6.
TEST(CropOrPad, CutsBratsAsTheReferenceDoes) {
  const Grid raw{{240, 240, 155}, {{{-1, 0, 0, 0}, {0, -1, 0, 239}, {0, 0, 1, 0}, {0, 0, 0, 1}}}};
  const Grid cut = crop_or_pad(raw, {192, 192, 144});
  EXPECT_EQ(cut.affine, (Affine{{{-1, 0, 0, -24}, {0, -1, 0, 215}, {0, 0, 1, 6}, {0, 0, 0, 1}}}));
}

TEST(CropOrPad, GoesBackExactly) {
  for (const std::int64_t small : {1, 2, 3, 4, 7}) {
    for (const std::int64_t large : {7, 8, 9, 16}) {
      const Volume volume = counted({small, 2, small}, scaling_affine({2, 2, 2}));
      const Volume padded = crop_or_pad(volume, {large, 5, large}, 0);
      const Volume back = crop_or_pad(padded, volume.dims, 0);
      EXPECT_EQ(back.data, volume.data) << small << " to " << large;
      EXPECT_EQ(grid_distance(back, volume), 0);
    }
  }
}

TEST(CropOrPad, LabelsMoveAlike) {
  const LabelVolume labels{{{3, 1, 1}, identity_affine()}, {1, 2, 3}};
  EXPECT_EQ(crop_or_pad(labels, {4, 1, 1}, 0).data, (std::vector<std::uint8_t>{0, 1, 2, 3}));
}

}  // namespace
}  // namespace mezzotint
