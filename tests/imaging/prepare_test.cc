#include "imaging/prepare.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "imaging/label_sets.h"
#include "support/nifti_builder.h"

namespace mezzotint {
namespace {

using testing::NiftiBuilder;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
const LabelSet whole_head = testing::whole_head_labels();
const LabelSet brats = testing::brats_labels();

NiftiImage image_of(const std::vector<double>& values, const std::vector<std::int64_t>& dims) {
  auto image = decode_nifti(
      NiftiBuilder().dims(dims).type(NiftiType::kFloat64).voxels(values).build(), "image.nii");
  EXPECT_TRUE(image.ok()) << image.error().message;
  return std::move(*image);
}

NiftiImage row(const std::vector<double>& values) {
  return image_of(values, {static_cast<std::int64_t>(values.size()), 1, 1});
}

Result<Reading> reading_of(const std::vector<double>& values, const LabelSet& recipe) {
  const NiftiImage image = row(values);
  return read_unexplained(image, tally_values(image), recipe, "mask.nii");
}

void expect_reading(const std::vector<double>& values, const LabelSet& recipe,
                    const std::vector<std::uint8_t>& labels, const std::vector<std::string>& done) {
  const auto reading = reading_of(values, recipe);
  ASSERT_TRUE(reading.ok()) << reading.error().message;
  EXPECT_EQ(reading->mask.volume.data, labels);
  EXPECT_EQ(reading->done, done);
}

// 5 x 4 x 4 voxels of `air` around 3 x 2 x 2 of `inside`.
NiftiImage head_of(double air, const std::vector<double>& inside) {
  std::vector<double> values(80, air);
  std::size_t next = 0;
  for (std::size_t z : {1, 2}) {
    for (std::size_t y : {1, 2}) {
      for (std::size_t x : {1, 2, 3}) {
        values[(z * 4 + y) * 5 + x] = inside[next++ % inside.size()];
      }
    }
  }
  return image_of(values, {5, 4, 4});
}

std::string refusal_of_t1(const NiftiImage& t1) {
  const auto brain = brain_of_t1(t1, "t1.nii");
  return brain ? "accepted" : brain.error().message;
}

TEST(ReadUnexplained, LabelsOfTheRecipeStay) {
  expect_reading({0, 1, 2, 1}, whole_head, {0, 1, 2, 1}, {});
  expect_reading({0, 1, 2, 3, 4}, brats, {0, 1, 2, 3, 4}, {});
  expect_reading({-1, 1, 2, 3}, brats, {0, 1, 2, 3}, {});
  expect_reading({0, 4}, brats, {0, 4}, {});
}

TEST(ReadUnexplained, RawLabelsBecomeWhatTheyMean) {
  expect_reading({0, 1, 2, 4, 4}, brats, {0, 1, 2, 3, 3},
                 {"raw label 4 became 3 (enhancing tumour): 2 voxels"});
  expect_reading({0, 2, 3.9999999}, brats, {0, 2, 3},
                 {"raw label 4 became 3 (enhancing tumour): 1 voxels"});
}

TEST(ReadUnexplained, OneValueIsTheBrainWhereItsLabelIsOne) {
  expect_reading({0, 255, 255}, whole_head, {0, 1, 1},
                 {"255, the only value beside 0, became brain"});
  EXPECT_FALSE(reading_of({0, 255, 255}, brats).ok());
  EXPECT_FALSE(reading_of({0, -3, -3}, whole_head).ok());
}

TEST(ReadUnexplained, ProbabilitiesAreCutInTheMiddle) {
  expect_reading({0, 0.4999, 0.5, 0.9, 1}, whole_head, {0, 0, 1, 1, 1},
                 {"every value from 0.5 on, of values from 0 to 1 became brain: 3 voxels"});
  EXPECT_FALSE(reading_of({0, 0.3, 0.4}, whole_head).ok()) << "nothing is left";
  EXPECT_FALSE(reading_of({0, 0.5, 1}, brats).ok());
  EXPECT_FALSE(reading_of({0, 0.5, 1.5}, whole_head).ok());
  EXPECT_FALSE(reading_of({0, 0.5, kNan}, whole_head).ok());
}

TEST(ReadUnexplained, ManyLabelsNeedAWord) {
  const auto aseg = reading_of({0, 2, 41, 1035, 1035}, whole_head);
  ASSERT_FALSE(aseg.ok());
  EXPECT_EQ(aseg.error().message,
            "mask.nii: 2 voxels are 1035, 1 is 41, expected only 0 (background), 1 (brain), 2 "
            "(tumour); say what each value means with --label-map \"VALUE=LABEL,...\", or choose "
            "another model; if all but 0 is brain: --label-map \"*=brain\"");
  const auto empty = reading_of({0, 0}, whole_head);
  ASSERT_FALSE(empty.ok());
  EXPECT_EQ(empty.error().message.find("--label-map"), std::string::npos);
}

TEST(RegionOfMask, WholeNumbersOrProbabilities) {
  const auto region = region_of_mask(row({0, 1, 0, 4, 2}), "tumour.nii");
  ASSERT_TRUE(region.ok()) << region.error().message;
  EXPECT_EQ(region->inside, (std::vector<std::uint8_t>{0, 1, 0, 1, 1}));
  EXPECT_EQ(region->voxels, 3);
  EXPECT_EQ(region->rule, "every value above 0");
  const auto soft = region_of_mask(row({0.2, 0.7, 0.5}), "tumour.nii");
  ASSERT_TRUE(soft.ok());
  EXPECT_EQ(soft->inside, (std::vector<std::uint8_t>{0, 1, 1}));
}

TEST(RegionOfMask, Refusals) {
  const auto refusal = [](const std::vector<double>& values) {
    const auto region = region_of_mask(row(values), "tumour.nii");
    return region ? "accepted" : region.error().message;
  };
  EXPECT_EQ(refusal({0, 0}), "tumour.nii: covers nothing: 2 voxels are 0");
  EXPECT_EQ(refusal({0, 0.4, 0.4}), "tumour.nii: covers nothing: 2 voxels are 0.4, 1 is 0");
  for (const std::vector<double>& values :
       {std::vector<double>{0, -1}, {0, 1.5}, {0.5, 2}, {1, kNan}}) {
    EXPECT_NE(refusal(values).find("expected a mask of one structure"), std::string::npos)
        << values[1];
  }
}

TEST(BrainOfT1, IsAboveTheConstantAir) {
  for (const double air : {0.0, -1.0, 12.0}) {
    const auto brain = brain_of_t1(head_of(air, {air + 1e-9, air + 100}), "t1.nii");
    ASSERT_TRUE(brain.ok()) << brain.error().message;
    EXPECT_EQ(brain->voxels, 12);
    EXPECT_EQ(brain->inside[(1 * 4 + 1) * 5 + 1], 1);
    EXPECT_EQ(brain->inside[0], 0);
    EXPECT_EQ(brain->rule,
              fmt::format("the T1 is above {}, its air (100.0 % of its outer faces)", air));
  }
}

// Standardised inside the brain: its dark half is negative, and air is still 0.
TEST(BrainOfT1, MayHaveValuesBelowAir) {
  const auto brain = brain_of_t1(head_of(0, {-1.5, 0.7, 2}), "t1.nii");
  ASSERT_TRUE(brain.ok()) << brain.error().message;
  EXPECT_EQ(brain->voxels, 12);
  EXPECT_EQ(brain->rule, "the T1 is above or below 0, its air (100.0 % of its outer faces)");
}

TEST(BrainOfT1, MayTouchTheFaces) {
  NiftiImage t1 = head_of(0, {5});
  std::vector<double> values(80);
  t1.read_values(0, values);
  for (std::size_t i = 0; i < 6; ++i) {
    values[i] = 7;  // 6 of 68 voxels on the faces
  }
  const auto brain = brain_of_t1(image_of(values, {5, 4, 4}), "t1.nii");
  ASSERT_TRUE(brain.ok()) << brain.error().message;
  EXPECT_EQ(brain->voxels, 18);
  values[6] = 8;  // less than nine tenths of the faces are air
  EXPECT_EQ(refusal_of_t1(image_of(values, {5, 4, 4})),
            "t1.nii: has no air around the brain: the most frequent value of its outer faces, 0, "
            "fills 89.7 % of them, expected at least 90 %; give a skull-stripped T1");
}

TEST(BrainOfT1, NanIsAir) {
  const auto masked = brain_of_t1(head_of(kNan, {5}), "t1.nii");
  ASSERT_TRUE(masked.ok()) << masked.error().message;
  EXPECT_EQ(masked->voxels, 12);
  EXPECT_EQ(masked->rule, "the T1 is a number (its air is NaN)");
  const auto holes = brain_of_t1(head_of(0, {5, kNan, 6}), "t1.nii");
  ASSERT_TRUE(holes.ok());
  EXPECT_EQ(holes->voxels, 8);
  EXPECT_NE(holes->rule.find("; 4 voxels that are NaN count as air"), std::string::npos);
}

TEST(BrainOfT1, RefusesWhatShowsNoBrain) {
  EXPECT_EQ(refusal_of_t1(head_of(3, {3})),
            "t1.nii: is 3 everywhere, expected a T1-weighted image of a brain");
  EXPECT_EQ(refusal_of_t1(head_of(kNan, {kNan})),
            "t1.nii: is nan everywhere, expected a T1-weighted image of a brain");
  EXPECT_EQ(refusal_of_t1(head_of(0, {1, std::numeric_limits<double>::infinity()})),
            "t1.nii: 6 voxels are infinite, expected a T1-weighted image");
  std::vector<double> noise(80);
  for (std::size_t i = 0; i < noise.size(); ++i) {
    noise[i] = static_cast<double>(i);
  }
  EXPECT_EQ(refusal_of_t1(image_of(noise, {5, 4, 4})),
            "t1.nii: has no air around the brain: no value of its outer faces fills half of them, "
            "expected at least 90 %; give a skull-stripped T1");
}

TEST(SameGrid, SaysBothGeometries) {
  const Grid mask{{4, 3, 2}, identity_affine()};
  Grid other = mask;
  other.affine[0][3] = 0.05;
  EXPECT_TRUE(check_same_grid(mask, "mask.nii", other, "t1.nii").ok());
  other.affine = {{{-1, 0, 0, 3}, {0, -1, 0, 2}, {0, 0, 1, 0}, {0, 0, 0, 1}}};
  const Status turned = check_same_grid(mask, "mask.nii", other, "t1.nii");
  ASSERT_FALSE(turned.ok());
  EXPECT_EQ(turned.error().message,
            "t1.nii: has 4x3x2 voxels of 1x1x1 mm, LPS, the first at (3, 2, 0), but mask.nii has "
            "4x3x2 voxels of 1x1x1 mm, RAS, the first at (0, 0, 0): resample one to the other's "
            "grid");
  EXPECT_FALSE(check_same_grid(mask, "mask.nii", {{4, 3, 3}, mask.affine}, "t1.nii").ok());
}

TEST(FillBackground, LeavesLabelsAlone) {
  LabelVolume mask{{{4, 1, 1}, identity_affine()}, {0, 2, 0, 1}};
  const Region region{{1, 1, 0, 1}, 3, ""};
  EXPECT_EQ(fill_background(mask, region, 4), 1);
  EXPECT_EQ(mask.data, (std::vector<std::uint8_t>{4, 2, 0, 1}));
}

}  // namespace
}  // namespace mezzotint
