#include "models/recipe.h"

#include <gtest/gtest.h>

namespace mezzotint {
namespace {

TEST(Recipe, NamesRoundTrip) {
  for (const RecipeKind kind : {RecipeKind::kWholeHead, RecipeKind::kBrats, RecipeKind::kGeneric}) {
    EXPECT_EQ(recipe_of(kind).kind, kind);
    EXPECT_EQ(recipe_from_name(name_of(kind)), kind);
  }
  EXPECT_EQ(recipe_from_name("whole_head"), std::nullopt);
}

TEST(Recipe, IsToldByChannels) {
  EXPECT_EQ(recipe_for_channels(1, 2), RecipeKind::kWholeHead);
  EXPECT_EQ(recipe_for_channels(4, 4), RecipeKind::kBrats);
  EXPECT_EQ(recipe_for_channels(1, 4), RecipeKind::kGeneric);
  EXPECT_EQ(recipe_for_channels(0, 0), RecipeKind::kGeneric);
}

TEST(Recipe, HoldsThePublishedFacts) {
  const Recipe& whole_head = recipe_of(RecipeKind::kWholeHead);
  EXPECT_EQ(whole_head.grid_xyz, (std::array<std::int64_t, 3>{128, 128, 128}));
  EXPECT_EQ(whole_head.spacing_mm, (std::array<double, 3>{0, 0, 0})) << "is not published";
  EXPECT_EQ(whole_head.frame, "RAS+");
  EXPECT_EQ(whole_head.label_names[1], "tumour");
  EXPECT_EQ(whole_head.off_value, -1.0f);
  EXPECT_EQ(whole_head.brain_label, 1);
  EXPECT_EQ(whole_head.tumour_label, 2);
  EXPECT_EQ(whole_head.raw_label, 0);
  const Recipe& brats = recipe_of(RecipeKind::kBrats);
  EXPECT_EQ(brats.grid_xyz, (std::array<std::int64_t, 3>{192, 192, 144}));
  EXPECT_EQ(brats.spacing_mm, (std::array<double, 3>{1, 1, 1}));
  EXPECT_EQ(brats.frame, "LPS+");
  EXPECT_EQ(brats.label_names[3], "brain");
  EXPECT_EQ(brats.modalities[3], "flair");
  EXPECT_EQ(brats.off_value, 0.0f);
  EXPECT_TRUE(brats.minus_one_is_background);
  EXPECT_EQ(brats.label_names[static_cast<std::size_t>(brats.brain_label - 1)], "brain");
  EXPECT_TRUE(brats.needs_brain);
  EXPECT_EQ(brats.raw_label, 4);
  EXPECT_EQ(brats.label_names[static_cast<std::size_t>(brats.raw_meaning - 1)], "enhancing tumour");
}

}  // namespace
}  // namespace mezzotint
