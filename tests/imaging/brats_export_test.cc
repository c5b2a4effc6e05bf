// Cropping, padding and the reference's form of a BraTS result, against values worked out by hand.
// The reference's own numbers are in fixture_test.cc.
#include "imaging/brats_export.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "imaging/crop_or_pad.h"
#include "imaging/reorient.h"

namespace mezzotint {
namespace {

// Of a BraTS mask: LPS+, 1 mm.
const Affine kLps{{{-1, 0, 0, -24}, {0, -1, 0, 215}, {0, 0, 1, 6}, {0, 0, 0, 1}}};

LabelVolume row(const std::vector<std::uint8_t>& values) {
  return {{{static_cast<std::int64_t>(values.size()), 1, 1}, scaling_affine({2, 1, 1})}, values};
}

TEST(CropOrPad, OddPlanesGoInFront) {
  const LabelVolume four = row({1, 2, 3, 4});
  const auto sized = [&](std::int64_t x) { return crop_or_pad(four, {x, 1, 1}).data; };
  EXPECT_EQ(sized(4), four.data);
  EXPECT_EQ(sized(3), (std::vector<std::uint8_t>{2, 3, 4}));
  EXPECT_EQ(sized(2), (std::vector<std::uint8_t>{2, 3}));
  EXPECT_EQ(sized(1), (std::vector<std::uint8_t>{3}));
  EXPECT_EQ(sized(5), (std::vector<std::uint8_t>{0, 1, 2, 3, 4}));
  EXPECT_EQ(sized(6), (std::vector<std::uint8_t>{0, 1, 2, 3, 4, 0}));
  EXPECT_EQ(sized(7), (std::vector<std::uint8_t>{0, 0, 1, 2, 3, 4, 0}));
}

TEST(CropOrPad, TheAffineMovesAlong) {
  EXPECT_EQ(crop_or_pad(row({1, 2, 3, 4}), {7, 1, 1}).affine[0][3], -4);
  EXPECT_EQ(crop_or_pad(row({1, 2, 3, 4}), {1, 1, 1}).affine[0][3], 4);
}

// One axis cut and two longer: the voxels that stay keep their world positions, the rest is 0.
TEST(CropOrPad, EachAxisByItself) {
  Volume volume{{{5, 2, 3}, {{{0, -2, 0, 1}, {3, 0, 0, 2}, {0, 0, 1, 3}, {0, 0, 0, 1}}}}, {}};
  for (int i = 1; i <= 30; ++i) {
    volume.data.push_back(static_cast<float>(i));
  }
  const Volume sized = crop_or_pad(volume, {2, 3, 5});
  EXPECT_EQ(std::count(sized.data.begin(), sized.data.end(), 0.0F), 30 - 12);
  for (std::int64_t z = 0; z < 3; ++z) {
    for (std::int64_t y = 0; y < 2; ++y) {
      for (std::int64_t x = 0; x < 2; ++x) {
        EXPECT_EQ(sized.at(x, y + 1, z + 1), volume.at(x + 2, y, z));
      }
    }
  }
  EXPECT_EQ(transform(sized.affine, {0, 1, 1}), transform(volume.affine, {2, 0, 0}));
}

TEST(RescaleToUnit, SmallestAndLargest) {
  std::vector<float> values{-1, 0, 1, 3};
  rescale_to_unit(values);
  EXPECT_EQ(values, (std::vector<float>{0, 0.25, 0.5, 1}));
  std::vector<float> constant{-0.5, -0.5};
  rescale_to_unit(constant);
  EXPECT_EQ(constant, (std::vector<float>{0, 0}));
  rescale_to_unit({});
}

TEST(BratsExport, PublishedSize) {
  Volume volume{{{192, 192, 144}, kLps}, std::vector<float>(192 * 192 * 144, -1)};
  volume.data.front() = 1;
  volume.data.back() = 0;
  const Volume exported = brats_export(volume);
  EXPECT_EQ(exported.dims, (Dims3{240, 240, 155}));
  // 24 planes before and after x and y; 6 before and 5 after z.
  EXPECT_EQ(exported.affine,
            (Affine{{{-1, 0, 0, 0}, {0, -1, 0, 239}, {0, 0, 1, 0}, {0, 0, 0, 1}}}));
  EXPECT_EQ(exported.at(24, 24, 6), 1);
  EXPECT_EQ(exported.at(215, 215, 149), 0.5F);
  const auto zeros = std::count(exported.data.begin(), exported.data.end(), 0.0F);
  EXPECT_EQ(zeros, 240 * 240 * 155 - 2);
}

TEST(BratsExport, LabelsAreExchanged) {
  LabelVolume mask{{{240, 240, 155}, kLps}, std::vector<std::uint8_t>(240 * 240 * 155)};
  for (std::uint8_t label = 0; label < 5; ++label) {
    mask.data[label] = label;
  }
  const LabelVolume exported = brats_export(mask);
  for (std::int64_t label = 0; label < 5; ++label) {
    EXPECT_EQ(exported.at(label, 0, 0), (std::array{0, 2, 1, 3, 0})[label]);
  }
  EXPECT_EQ(exported.affine, kLps);
}

// Sizes mean what they mean in BraTS files, however a volume lies in memory; odd planes too.
TEST(BratsExport, SameFromEveryOrientation) {
  LabelVolume mask{{{7, 5, 4}, kLps}, {}};
  for (int i = 0; i < 7 * 5 * 4; ++i) {
    mask.data.push_back(static_cast<std::uint8_t>(i % 5));
  }
  const LabelVolume expected = brats_export(mask);
  for (const char* frame : {"RAS+", "LAS+", "SPL+", "AIR+", "PRI+"}) {
    const auto to_frame = reorientation_to(mask.affine, frame);
    ASSERT_TRUE(to_frame.ok());
    const LabelVolume exported = brats_export(reorient(mask, *to_frame));
    EXPECT_EQ(exported.dims, expected.dims) << frame;
    EXPECT_EQ(exported.affine, expected.affine) << frame;
    EXPECT_TRUE(exported.data == expected.data) << frame;
  }
}

TEST(BratsExport, WhatLiesRightIsNotCopied) {
  Volume volume{{{240, 240, 155}, kLps}, std::vector<float>(240 * 240 * 155)};
  const float* data = volume.data.data();
  const Volume exported = brats_export(std::move(volume));
  EXPECT_EQ(exported.data.data(), data);
}

}  // namespace
}  // namespace mezzotint
