#include "pipeline/condition.h"

#include <gtest/gtest.h>

#include <limits>

#include "formats/ckpt_files.h"
#include "support/nifti_builder.h"

namespace mezzotint::testing {
namespace {

using Size = std::array<std::int64_t, 3>;

Model model_with_levels(std::size_t levels) {
  Model model;
  model.path = "brain.pt";
  model.config.channel_multiplier.assign(levels, 1);
  return model;
}

TEST(ChooseGrid, TakesTheRequestBeforeTheModel) {
  Model model = model_with_levels(5);
  model.grid = Size{128, 128, 96};
  EXPECT_EQ(*choose_grid(model, std::nullopt), (Size{128, 128, 96}));
  EXPECT_EQ(*choose_grid(model, Size{32, 48, 16}), (Size{32, 48, 16}));
}

TEST(ChooseGrid, AsksWhenNobodyKnows) {
  expect_error(choose_grid(model_with_levels(5), std::nullopt),
               "brain.pt: neither the recipe nor model.json gives a grid: pass --size");
}

TEST(ChooseGrid, NamesTheNearestSideThatFits) {
  const Model model = model_with_levels(5);
  expect_error(choose_grid(model, Size{32, 40, 32}),
               "size 32x40x32: each side must be a multiple of 16; the nearest to 40 is 32");
  expect_error(choose_grid(model, Size{32, 32, 41}), "the nearest to 41 is 48");
  expect_error(choose_grid(model, Size{8, 32, 32}), "the nearest to 8 is 16");
  expect_error(choose_grid(model, Size{0, 32, 32}), "the nearest to 0 is 16");
  expect_error(choose_grid(model, Size{-32, 32, 32}), "the nearest to -32 is 16");
  EXPECT_TRUE(choose_grid(model_with_levels(1), Size{7, 1, 3}).ok());
}

TEST(ChooseGrid, RefusesProductsThatOverflow) {
  const Model model = model_with_levels(5);
  EXPECT_TRUE(choose_grid(model, Size{2048, 1024, 1024}).ok());
  expect_error(choose_grid(model, Size{2048, 2048, 1024}), "more than 2147483648 voxels");
  const std::int64_t huge = std::int64_t{1} << 62;
  expect_error(choose_grid(model, Size{huge, huge, huge}),
               "4611686018427387904: more than 2147483648 voxels");
  const std::int64_t most = std::numeric_limits<std::int64_t>::max();
  expect_error(choose_grid(model, Size{most, most, most}), "more than 2147483648 voxels");
  const std::int64_t least = std::numeric_limits<std::int64_t>::min();
  expect_error(choose_grid(model, Size{least, 16, 16}),
               "the nearest to -9223372036854775808 is 16");
}

// An LPS mask of 17 x 20 x 30 voxels, and a model of 3 levels that wants other axes.
class ChooseFit : public ::testing::Test {
 protected:
  ChooseFit() : file_(text_of(NiftiBuilder().dims({17, 20, 30}).sform(1, kLps))) {
    model_.frame = "SAR+";
    model_.spacing_mm = {2, 2, 2};
    request_.mask = file_.path();
  }

  static std::string text_of(const NiftiBuilder& nifti) {
    const std::vector<std::byte> bytes = nifti.build();
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  }

  static constexpr Affine kLps{{{-1, 0, 0, 0}, {0, -1, 0, 0}, {0, 0, 1, 0}, {0, 0, 0, 1}}};
  TemporaryFile file_;
  Model model_ = model_with_levels(3);
  GenerateRequest request_;
};

TEST_F(ChooseFit, TakesTheModelsGridAndWords) {
  model_.grid = Size{16, 32, 48};
  request_.resize = "reference";
  request_.as_stored = true;
  const auto options = choose_fit(request_, model_);
  ASSERT_TRUE(options.ok()) << options.error().message;
  EXPECT_EQ(options->dims, (Size{16, 32, 48}));
  EXPECT_EQ(options->frame, "SAR+");
  EXPECT_EQ(options->spacing_mm, model_.spacing_mm);
  EXPECT_EQ(options->resize, Resize::kReference);
  EXPECT_TRUE(options->as_stored);
  request_.resize = "stretch";
  expect_error(choose_fit(request_, model_), "`stretch` is not auto, pad, resample or reference");
}

// In the model's frame, each side up to a multiple of 4, whole voxels.
TEST_F(ChooseFit, TakesTheMasksGridWhenAskedOrWhenNobodyKnows) {
  for (const bool asked : {false, true}) {
    model_.grid = asked ? std::optional(Size{16, 16, 16}) : std::nullopt;
    request_.size_of_mask = asked;
    const auto options = choose_fit(request_, model_);
    ASSERT_TRUE(options.ok()) << options.error().message;
    EXPECT_EQ(options->dims, (Size{32, 20, 20}));
    EXPECT_EQ(options->resize, Resize::kPad);
  }
  request_.as_stored = true;
  EXPECT_EQ(choose_fit(request_, model_)->dims, (Size{20, 20, 32}));
  request_.resize = "resample";
  EXPECT_EQ(choose_fit(request_, model_)->resize, Resize::kResample);
}

TEST_F(ChooseFit, RefusesTwoSizesAndMasksWithoutAGrid) {
  request_.size_of_mask = true;
  request_.size = Size{16, 16, 16};
  expect_error(choose_fit(request_, model_),
               "size: 16x16x16 and the mask's own are both asked for");
  request_.size.reset();
  request_.mask = "absent.nii";
  expect_error(choose_fit(request_, model_), "absent.nii: cannot open");
  const TemporaryFile slice(text_of(NiftiBuilder().dims({17, 20, 1}).sform(1, kLps)));
  request_.mask = slice.path();
  expect_error(choose_fit(request_, model_), "17x20x1 is a single slice");
}

}  // namespace
}  // namespace mezzotint::testing
