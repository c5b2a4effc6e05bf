// A mask, brought to a model's grid, and volumes brought back to the mask's.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "formats/nifti.h"
#include "imaging/labels.h"
#include "imaging/reorient.h"
#include "imaging/volume.h"
#include "pipeline/model.h"

namespace mezzotint {

struct Condition {
  std::filesystem::path file;
  std::string sha256;   // of the mask's file
  NiftiHeader header;   // of the mask
  LabelVolume mask;     // as stored
  LabelVolume on_grid;  // on the model's grid, axes in the model's frame
  Reorientation to_frame;
  bool resampled = false;
  std::string fit;                 // one line: how the mask came to the grid
  std::vector<std::string> notes;  // what was assumed or lost
};

// Which grid a run uses: `size`, else the model's. kInvalidInput when neither is known, or a side
// is no multiple of what the network needs (the line gives the nearest).
Result<std::array<std::int64_t, 3>> choose_grid(
    const Model& model, const std::optional<std::array<std::int64_t, 3>>& size);

// What reading the mask needs at least: its file, and its voxels when the file is compressed. 0
// when the file is not what it should be; reading it says why.
std::uint64_t mask_bytes(const std::filesystem::path& mask);

// Reads the mask and brings it to `grid` (x, y, z): unchanged when extent and spacing agree, by
// world coordinates when the model's spacing is known, else stretched.
Result<Condition> read_condition(const std::filesystem::path& mask, const Model& model,
                                 const std::array<std::int64_t, 3>& grid);

// One-hot channels [C, z, y, x].
std::vector<float> encode_condition(const Condition& condition, const Model& model);

// One channel of a result [z, y, x], on the mask's own grid and orientation.
Volume bring_back(const Condition& condition, std::span<const float> channel, float background);

}  // namespace mezzotint
