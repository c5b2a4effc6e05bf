// mezzotint prepare: a mask that a model can use, out of what people have.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "mezzotint/cancel.h"
#include "mezzotint/result.h"

namespace mezzotint {

struct PrepareRequest {
  std::optional<std::string> recipe;             // whole-head or brats; this or `model`
  std::optional<std::filesystem::path> model;    // whose recipe and labels are meant
  std::filesystem::path mask;                    // NIfTI: labels, or a mask of the brain
  std::optional<std::filesystem::path> t1;       // skull-stripped, on the mask's grid
  std::optional<std::filesystem::path> tumour;   // a mask of the tumour, on the mask's grid
  std::optional<std::string> label_map;          // what the mask's values mean: "1=brain,2=tumour"
  std::filesystem::path out;                     // .nii or .nii.gz
  std::optional<std::filesystem::path> preview;  // PNG
  bool overwrite = false;
};

struct StoredValue {
  double value = 0;
  std::int64_t voxels = 0;
};

struct PreparedLabel {
  int label = 0;
  std::string name;
  std::int64_t voxels = 0;
};

struct PrepareReport {
  std::string recipe;
  std::string before;                       // one line: the values that the mask held
  std::vector<StoredValue> before_values;   // the first thousand distinct ones but NaN, ascending
  std::string after;                        // one line: the labels that were written
  std::vector<PreparedLabel> after_labels;  // background and each label of the recipe
  std::vector<std::string> done;            // what was changed; empty: the mask was usable as it is
  std::vector<std::string> notes;           // what was assumed, and what to look at
  std::filesystem::path out;
  std::optional<std::filesystem::path> preview;
};

// Memory that prepare() takes at its peak, by the headers and sizes of the files: each image with
// one byte a voxel for what it covers, beside the labels and, from when it is read, the T1; of the
// mask two, while its labels are told. Too little when a file is not what it should be.
[[nodiscard]] std::uint64_t prepare_bytes(const PrepareRequest& request);

// Writes the labels as uint8 on the mask's own grid, with its geometry and no text, and the
// preview: the mask's outlines over the T1, or over its own labels where there is no T1. Both files
// or none. The labels are read as read_unexplained() (imaging/prepare.h) says, or with `label_map`.
// If they lack the recipe's brain label, it is put wherever the mask is background and the T1 is
// not air. `tumour` then paints the recipe's tumour label. Never throws. kInvalidInput and
// kNotFound for files and flags, kResource for memory and disk, kCancelled when `cancel` was set
// (read between files).
Result<PrepareReport> prepare(const PrepareRequest& request, const CancelToken* cancel = nullptr);

}  // namespace mezzotint
