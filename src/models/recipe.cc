#include "models/recipe.h"

namespace mezzotint {
namespace {

constexpr std::string_view kWholeHeadModalities[] = {"t1"};
constexpr std::string_view kWholeHeadLabels[] = {"brain", "tumour"};
constexpr std::string_view kBratsModalities[] = {"t1", "t1ce", "t2", "flair"};
constexpr std::string_view kBratsLabels[] = {"necrotic core", "oedema", "enhancing tumour",
                                             "brain"};

constexpr Recipe kRecipes[] = {
    {.kind = RecipeKind::kWholeHead,
     .name = "whole-head",
     .modalities = kWholeHeadModalities,
     .label_names = kWholeHeadLabels,
     .grid_xyz = {128, 128, 128},
     .spacing_mm = {0, 0, 0},
     .frame = "RAS+",
     .off_value = -1.0f,
     .on_value = 1.0f,
     .minus_one_is_background = false,
     .brain_label = 1,
     .tumour_label = 2,
     .needs_brain = false,
     .raw_label = 0,
     .raw_meaning = 0},
    {.kind = RecipeKind::kBrats,
     .name = "brats",
     .modalities = kBratsModalities,
     .label_names = kBratsLabels,
     .grid_xyz = {192, 192, 144},
     .spacing_mm = {1, 1, 1},
     .frame = "LPS+",
     .off_value = 0.0f,
     .on_value = 1.0f,
     .minus_one_is_background = true,
     .brain_label = 4,
     .tumour_label = 0,
     .needs_brain = true,
     .raw_label = 4,
     .raw_meaning = 3},
    {.kind = RecipeKind::kGeneric,
     .name = "generic",
     .modalities = {},
     .label_names = {},
     .grid_xyz = {0, 0, 0},
     .spacing_mm = {0, 0, 0},
     .frame = "RAS+",
     .off_value = -1.0f,
     .on_value = 1.0f,
     .minus_one_is_background = false,
     .brain_label = 0,
     .tumour_label = 0,
     .needs_brain = false,
     .raw_label = 0,
     .raw_meaning = 0},
};

}  // namespace

const Recipe& recipe_of(RecipeKind kind) {
  return kRecipes[static_cast<std::size_t>(kind)];
}

std::string_view name_of(RecipeKind kind) {
  return recipe_of(kind).name;
}

std::optional<RecipeKind> recipe_from_name(std::string_view name) {
  for (const Recipe& recipe : kRecipes) {
    if (recipe.name == name) {
      return recipe.kind;
    }
  }
  return std::nullopt;
}

RecipeKind recipe_for_channels(std::int64_t image, std::int64_t condition) {
  for (const Recipe& recipe : kRecipes) {
    if (recipe.kind != RecipeKind::kGeneric &&
        image == static_cast<std::int64_t>(recipe.modalities.size()) &&
        condition == static_cast<std::int64_t>(recipe.label_names.size())) {
      return recipe.kind;
    }
  }
  return RecipeKind::kGeneric;
}

}  // namespace mezzotint
