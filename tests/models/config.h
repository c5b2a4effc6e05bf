// Configurations that several tests build.
#pragma once

#include "models/med_ddpm.h"

namespace mezzotint {

inline MedDdpmConfig whole_head_config(std::int64_t base_channels = 64) {
  return {.recipe = RecipeKind::kWholeHead,
          .in_channels = 3,
          .image_channels = 1,
          .condition_channels = 2,
          .out_channels = 1,
          .base_channels = base_channels,
          .res_blocks = 1,
          .channel_multiplier = {1, 1, 2, 3, 4},
          .attention_levels = {3},
          .heads = 1};
}

inline MedDdpmConfig brats_config(std::int64_t base_channels = 64) {
  return {.recipe = RecipeKind::kBrats,
          .in_channels = 8,
          .image_channels = 4,
          .condition_channels = 4,
          .out_channels = 4,
          .base_channels = base_channels,
          .res_blocks = 2,
          .channel_multiplier = {1, 1, 2, 3, 4},
          .attention_levels = {},
          .heads = 1};
}

}  // namespace mezzotint
