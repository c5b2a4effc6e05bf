// model.json: what a model folder says about itself that its weights cannot.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>

#include "mezzotint/result.h"

namespace mezzotint {

struct ModelCard {
  std::optional<std::string> recipe;
  std::optional<std::array<std::int64_t, 3>> grid;  // x, y, z
  std::optional<std::array<double, 3>> spacing_mm;
  std::optional<std::string> frame;   // "RAS+"
  std::map<int, std::string> labels;  // empty: the recipe's
  std::optional<int> timesteps;
  std::optional<std::string> weights;  // file name inside the folder
  std::optional<std::string> licence;
};

// docs/formats.md lists the keys. Unknown keys are refused: a misspelt one would be silently
// ignored. So is a key that is there twice.
Result<ModelCard> read_model_card(const std::filesystem::path& path);

}  // namespace mezzotint
