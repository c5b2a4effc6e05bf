// The reference's form of a BraTS result, against values worked out by hand.
// The reference's own numbers are in fixture_test.cc.
#include "imaging/brats_export.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "imaging/reorient.h"

namespace mezzotint {
namespace {

// Of a BraTS mask: LPS+, 1 mm.
constexpr Affine kLps{{{-1, 0, 0, -24}, {0, -1, 0, 215}, {0, 0, 1, 6}, {0, 0, 0, 1}}};

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
  EXPECT_EQ(brats_grid(volume).dims, exported.dims);
  EXPECT_EQ(brats_grid(volume).affine, exported.affine);
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
