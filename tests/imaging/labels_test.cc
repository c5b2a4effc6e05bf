#include "imaging/labels.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numeric>

#include "imaging/encode.h"
#include "imaging/label_sets.h"
#include "support/nifti_builder.h"

namespace mezzotint {
namespace {

using testing::NiftiBuilder;

const LabelSet whole_head = testing::whole_head_labels();
const LabelSet brats = testing::brats_labels();

Result<LabelMask> labels_of(const std::vector<double>& values, const LabelSet& recipe,
                            const LabelMap* stated = nullptr) {
  const auto image = decode_nifti(NiftiBuilder()
                                      .dims({static_cast<std::int64_t>(values.size()), 1, 1})
                                      .type(NiftiType::kFloat64)
                                      .voxels(values)
                                      .build(),
                                  "mask.nii");
  EXPECT_TRUE(image.ok()) << image.error().message;
  return image ? labels_from_nifti(*image, recipe, "mask.nii", stated) : image.error();
}

void expect_refused(const std::vector<double>& values, const LabelSet& recipe,
                    std::string_view message, const LabelMap* stated = nullptr) {
  const auto labels = labels_of(values, recipe, stated);
  ASSERT_FALSE(labels.ok()) << "expected: " << message;
  EXPECT_EQ(labels.error().message, message);
}

TEST(Labels, RoundsWhatIsNearAnInteger) {
  const auto labels = labels_of({2.9999999993, 1.0009, 0, -0.0004, 3.9991}, brats);
  ASSERT_TRUE(labels.ok()) << labels.error().message;
  EXPECT_EQ(labels->volume.data, (std::vector<std::uint8_t>{3, 1, 0, 0, 4}));
  EXPECT_FALSE(labels_of({1, 1.0011}, brats).ok());
}

TEST(Labels, ScalingOfTheHeaderComesFirst) {
  const auto image = decode_nifti(NiftiBuilder()
                                      .dims({3, 1, 1})
                                      .voxels(std::vector<std::uint8_t>{0, 127, 254})
                                      .scaling(1.0 / 127, 0)
                                      .build(),
                                  "mask.nii");
  ASSERT_TRUE(image.ok());
  const auto labels = labels_from_nifti(*image, whole_head, "mask.nii");
  ASSERT_TRUE(labels.ok()) << labels.error().message;
  EXPECT_EQ(labels->volume.data, (std::vector<std::uint8_t>{0, 1, 2}));
}

TEST(Labels, BadValuesAreListedWithCounts) {
  expect_refused({0, 1, 7, 7, 7, 1.5, -1, std::numeric_limits<double>::quiet_NaN()}, whole_head,
                 "mask.nii: 3 voxels are 7, 1 is -1, 1 is 1.5, 1 is nan, expected only 0 "
                 "(background), 1 (brain), 2 (tumour); correct the mask or choose another model");
  expect_refused({1, std::numeric_limits<double>::infinity()}, whole_head,
                 "mask.nii: 1 voxel is inf, expected only 0 (background), 1 (brain), 2 (tumour); "
                 "correct the mask or choose another model");
  expect_refused({1, 300, 1e300, -5}, whole_head,
                 "mask.nii: 1 voxel is -5, 1 is 300, 1 is 1e+300, expected only 0 (background), 1 "
                 "(brain), 2 (tumour); correct the mask or choose another model");
  expect_refused({1, 4, 4, 300}, whole_head,
                 "mask.nii: 2 voxels are 4, 1 is 300, expected only 0 (background), 1 (brain), 2 "
                 "(tumour); say what each value means with --label-map \"VALUE=LABEL,...\", or "
                 "choose another model");
}

// Where `prepare` has a rule, the line gives its command and what it would say.
TEST(Labels, PrepareIsNamedWhereItHelps) {
  const std::string command =
      "`mezzotint prepare --recipe whole-head --mask mask.nii --out NEW.nii.gz` makes it usable: ";
  expect_refused(
      {0, 255, 255}, whole_head,
      "mask.nii: 2 voxels are 255, expected only 0 (background), 1 (brain), 2 (tumour); "
      "say what each value means with --label-map \"VALUE=LABEL,...\", or choose another "
      "model; " +
          command + "255, the only value beside 0, became brain");
  expect_refused({0, 0.25, 0.75, 1}, whole_head,
                 "mask.nii: 1 voxel is 0.25, 1 is 0.75, expected only 0 (background), 1 (brain), 2 "
                 "(tumour); correct the mask or choose another model; " +
                     command +
                     "every value from 0.5 on, of values from 0 to 1 became brain: 2 voxels");
  const auto named = [](const Result<LabelMask>& labels) {
    return labels.error().message.find("mezzotint prepare") != std::string::npos;
  };
  EXPECT_FALSE(named(labels_of({0, 1, 7}, whole_head)));
  EXPECT_FALSE(named(labels_of({0, 255}, brats)));
  EXPECT_FALSE(named(labels_of({0, 0.5, std::numeric_limits<double>::infinity()}, whole_head)));
  const auto stated = parse_label_map("7=brain", whole_head);
  ASSERT_TRUE(stated.ok()) << stated.error().message;
  EXPECT_FALSE(named(labels_of({0, 255}, whole_head, &*stated)));
}

TEST(Labels, AnIntensityImageIsRefusedInOneLine) {
  std::vector<double> values(5000);
  std::iota(values.begin(), values.end(), 0.5);
  expect_refused(values, whole_head,
                 "mask.nii: 1 voxel is 0.5, 1 is 1.5, 1 is 2.5, 1 is 3.5, 1 is 4.5 and 4995 have "
                 "other values, expected only 0 (background), 1 (brain), 2 (tumour); correct the "
                 "mask or choose another model");
}

TEST(Labels, MinusOneIsBackgroundOnlyWhereTheRecipeSaysSo) {
  const auto labels = labels_of({-1, 4, -1.0004, 0}, brats);
  ASSERT_TRUE(labels.ok()) << labels.error().message;
  EXPECT_EQ(labels->volume.data, (std::vector<std::uint8_t>{0, 4, 0, 0}));
  EXPECT_EQ(labels->notes, (std::vector<std::string>{"2 voxels are -1: taken as background"}));
  EXPECT_FALSE(labels_of({-1, 1, 0}, whole_head).ok());
  EXPECT_FALSE(labels_of({-2, 4, 0}, brats).ok());
}

TEST(Labels, AllZeroIsRefused) {
  expect_refused({0, 0, 0}, whole_head,
                 "mask.nii: all 3 voxels are 0 (background), expected some of 0 (background), 1 "
                 "(brain), 2 (tumour); check that this is the mask and not an empty export");
  EXPECT_FALSE(labels_of({0, -1, 0}, brats).ok());
}

TEST(Labels, BrainIsAskedForWhereTheRecipeNeedsIt) {
  const std::string rest =
      "mask.nii: lacks label 4 (brain), which this model needs to know where the head is; "
      "`mezzotint prepare --recipe brats --mask mask.nii --t1 T1 --out NEW.nii.gz` adds it";
  expect_refused({0, 1, 2, 3}, brats, rest);
  expect_refused({0, 1, 2}, brats, rest);
  EXPECT_TRUE(labels_of({0, 1, 2, 3, 4}, brats).ok());
  EXPECT_TRUE(labels_of({0, 2}, whole_head).ok());
}

TEST(Labels, BrainWithoutTumourIsFine) {
  EXPECT_TRUE(labels_of({0, 4, 4}, brats).ok());
  EXPECT_TRUE(labels_of({0, 1, 1}, whole_head).ok());
}

TEST(Labels, RawLabelsAreRefusedUnlessTheUserKnowsBetter) {
  const std::string message =
      "mask.nii: holds labels 1, 2 and 4 but no 3: most likely raw labels, where 4 means enhancing "
      "tumour and not brain; `mezzotint prepare --recipe brats --mask mask.nii --t1 T1 --out "
      "NEW.nii.gz` makes them usable, and if they do mean what this model knows, pass --label-map "
      "\"1=1,2=2,4=4\"";
  expect_refused({0, 1, 2, 4}, brats, message);
  EXPECT_FALSE(labels_of({0, 2, 4}, brats).ok());
  const auto stated = parse_label_map("1=1,2=2,4=4", brats);
  ASSERT_TRUE(stated.ok()) << stated.error().message;
  const auto labels = labels_of({0, 1, 2, 4}, brats, &*stated);
  ASSERT_TRUE(labels.ok()) << labels.error().message;
  EXPECT_EQ(labels->volume.data, (std::vector<std::uint8_t>{0, 1, 2, 4}));
}

TEST(Labels, AStatedMapIsWhatCounts) {
  const auto stated = parse_label_map("10=brain,20=tumour,-1=0", whole_head);
  ASSERT_TRUE(stated.ok());
  const auto labels = labels_of({0, 10, 20, 10, -1}, whole_head, &*stated);
  ASSERT_TRUE(labels.ok()) << labels.error().message;
  EXPECT_EQ(labels->volume.data, (std::vector<std::uint8_t>{0, 1, 2, 1, 0}));
  expect_refused({0, 10, 1, 1, 7}, whole_head,
                 "mask.nii: 2 voxels are 1, 1 is 7, expected only the values of the label map (-1, "
                 "0, 10, 20); list the others too, or end the map with \"*=background\"",
                 &*stated);
  const auto emptied = parse_label_map("*=background", whole_head);
  ASSERT_TRUE(emptied.ok());
  EXPECT_FALSE(labels_of({0, 1}, whole_head, &*emptied).ok());
  const auto no_brain = parse_label_map("4=enhancing tumour", brats);
  ASSERT_TRUE(no_brain.ok());
  EXPECT_FALSE(labels_of({0, 4}, brats, &*no_brain).ok());
}

TEST(Labels, AMapTakesNoFractions) {
  const auto stated = parse_label_map("*=brain", whole_head);
  ASSERT_TRUE(stated.ok());
  const auto labels = labels_of({0, 1035, -3}, whole_head, &*stated);
  ASSERT_TRUE(labels.ok()) << labels.error().message;
  EXPECT_EQ(labels->volume.data, (std::vector<std::uint8_t>{0, 1, 1}));
  EXPECT_FALSE(labels_of({0, 0.5}, whole_head, &*stated).ok());
  EXPECT_FALSE(labels_of({1, std::nan("")}, whole_head, &*stated).ok());
}

TEST(Labels, SeveralVolumesAreRefused) {
  const auto image = decode_nifti(
      NiftiBuilder().dims({2, 1, 1, 2}).voxels(std::vector<std::uint8_t>{1, 1, 1, 1}).build(),
      "mask.nii");
  ASSERT_TRUE(image.ok());
  const auto labels = labels_from_nifti(*image, whole_head, "mask.nii");
  ASSERT_FALSE(labels.ok());
  EXPECT_NE(labels.error().message.find("holds 2 x 1 x 1 x 2 voxels"), std::string::npos);
}

TEST(Labels, Counts) {
  const auto labels = labels_of({0, 1, 1, 2, 1, 0, 0}, whole_head);
  ASSERT_TRUE(labels.ok());
  const LabelCounts counts = count_labels(labels->volume);
  EXPECT_EQ(counts[0], 3);
  EXPECT_EQ(counts[1], 3);
  EXPECT_EQ(counts[2], 1);
  EXPECT_EQ(describe_counts(counts, whole_head), "3 brain, 1 tumour, 3 background");
}

TEST(Encode, OneChannelPerLabel) {
  const LabelVolume volume{{{4, 1, 1}, identity_affine()}, {0, 2, 1, 2}};
  const std::vector<int> labels{1, 2};
  std::vector<float> out(8);
  encode_labels(volume, labels, -1, 1, out);
  EXPECT_EQ(out, (std::vector<float>{-1, -1, 1, -1, -1, 1, -1, 1}));
  encode_labels(volume, labels, 0, 1, out);
  EXPECT_EQ(out, (std::vector<float>{0, 0, 1, 0, 0, 1, 0, 1}));
}

// By hand: positions (i + 0.5) * 2/4 - 0.5 = -0.25, 0.25, 0.75, 1.25, clamped to 0..1.
TEST(Encode, ResizingKeepsFractions) {
  const LabelVolume volume{{{2, 1, 1}, identity_affine()}, {0, 1}};
  const std::vector<int> labels{1};
  std::vector<float> out(4);
  encode_labels_resized(volume, labels, {4, 1, 1}, 0, 1, out);
  EXPECT_EQ(out, (std::vector<float>{0, 0.25F, 0.75F, 1}));
  encode_labels_resized(volume, labels, {4, 1, 1}, -1, 1, out);
  EXPECT_EQ(out, (std::vector<float>{-1, -0.5F, 0.5F, 1}));
}

}  // namespace
}  // namespace mezzotint
