// What the published Med-DDPM models were trained on: facts that no checkpoint holds.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace mezzotint {

// kGeneric: other channel counts; the condition channels are labels 1, 2, ... in order.
enum class RecipeKind : std::uint8_t { kWholeHead, kBrats, kGeneric };

struct Recipe {
  RecipeKind kind;
  std::string_view name;
  std::span<const std::string_view> modalities;  // of the image channels; empty: unknown
  std::span<const std::string_view>
      label_names;                       // of labels 1, 2, ...; condition channel label - 1
  std::array<std::int64_t, 3> grid_xyz;  // published; all 0: unknown
  std::array<double, 3> spacing_mm;      // of the grid's voxels; all 0: unknown
  std::string_view frame;                // where the axes x, y, z point: "RAS+", "LPS+"
  float off_value;                       // of a condition channel where the label is absent
  float on_value;                        // and where it is present
  bool minus_one_is_background;          // masks of the reference's preparation script have it
  int brain_label;                       // 0: unknown
  int tumour_label;                      // of all tumour; 0: unknown, or several labels
  bool needs_brain;                      // a mask without brain is nothing the model has seen
  int raw_label;    // of masks as annotators publish them; 0: they use the recipe's labels
  int raw_meaning;  // the recipe's label for it
};

[[nodiscard]] const Recipe& recipe_of(RecipeKind kind);
// "whole-head", "brats", "generic".
[[nodiscard]] std::string_view name_of(RecipeKind kind);
[[nodiscard]] std::optional<RecipeKind> recipe_from_name(std::string_view name);
// By the number of image and condition channels.
[[nodiscard]] RecipeKind recipe_for_channels(std::int64_t image, std::int64_t condition);

}  // namespace mezzotint
