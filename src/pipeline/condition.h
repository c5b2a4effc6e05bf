// A mask, brought to a model's grid and encoded.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "formats/nifti.h"
#include "imaging/fit.h"
#include "imaging/volume.h"
#include "mezzotint/generate.h"
#include "pipeline/model.h"

namespace mezzotint {

struct Condition {
  std::filesystem::path file;
  std::string sha256;              // of the mask's file
  NiftiHeader header;              // of the mask
  LabelVolume mask;                // as stored
  Fit fit;                         // how it comes to the grid, and results back
  LabelVolume labels;              // what is encoded: FittedLabels::labels
  std::vector<std::string> notes;  // what was assumed or lost
};

// The dims of an image that can be a mask: one volume, on a grid that results can be written for.
Result<Dims3> mask_dims(const NiftiHeader& header, const std::filesystem::path& mask);

// Of a model's grid.
inline constexpr std::int64_t kMostGridVoxels = std::int64_t{1} << 31;

// Which grid a run uses: `size`, else the model's. kInvalidInput when neither is known, or a side
// is no multiple of what the network needs (the line gives the nearest).
Result<std::array<std::int64_t, 3>> choose_grid(
    const Model& model, const std::optional<std::array<std::int64_t, 3>>& size);

// The grid and the way to it: `size`, the mask's own grid when that is asked for or nothing else is
// known (each side up to the next multiple of what the network needs), else the model's. Of the
// mask, the header is read where its grid is needed.
Result<FitOptions> choose_fit(const GenerateRequest& request, const Model& model);

// Memory that reading a mask takes at its peak, by its file's header and size: the image, and its
// labels beside it. Too little when the file is not what it should be; reading it says why.
std::uint64_t labels_read_bytes(const std::filesystem::path& mask);
// The same for read_condition() with a grid of `dims`: when the image is gone, the labels are
// turned, and then brought to the grid.
std::uint64_t condition_read_bytes(const std::filesystem::path& mask, const Dims3& dims);

// Reads the mask and brings it to the grid. `stated` is what the mask's values mean; default: they
// are the model's labels.
Result<Condition> read_condition(const std::filesystem::path& mask, const Model& model,
                                 const FitOptions& options, const LabelMap* stated = nullptr);

// One-hot channels [C, z, y, x] on the model's grid; with FitKind::kReference, fractions of them.
std::vector<float> encode_condition(const Condition& condition, const Model& model);

}  // namespace mezzotint
