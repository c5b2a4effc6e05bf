// Label masks: what a recipe knows, and turning a NIfTI image into labels or a clear refusal.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "formats/nifti.h"
#include "imaging/volume.h"
#include "mezzotint/result.h"

namespace mezzotint {

struct LabelName {
  int value = 0;  // 1..255; 0 is background
  std::string name;
};

struct LabelSet {
  std::vector<LabelName> labels;
  // The BraTS preparation script marks background with -1.
  bool minus_one_is_background = false;
};

using LabelCounts = std::array<std::int64_t, 256>;  // voxels of each label

// One volume whose values lie within 1e-3 of integers that the recipe knows (2.9999999993 is 3).
// Anything else is refused with each bad value and its count; so is a mask without any label.
// `what` (the file's name) begins each error's line.
[[nodiscard]] Result<LabelVolume> labels_from_nifti(const NiftiImage& image, const LabelSet& recipe,
                                                    std::string_view what);

[[nodiscard]] LabelCounts count_labels(const LabelVolume& volume);

// "5586 brain, 229 tumour, 26953 background".
[[nodiscard]] std::string describe_counts(const LabelCounts& counts, const LabelSet& recipe);

}  // namespace mezzotint
