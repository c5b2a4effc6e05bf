// Label masks: turning a NIfTI image into labels that a recipe knows, or a clear refusal.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "formats/nifti.h"
#include "imaging/label_map.h"
#include "imaging/volume.h"
#include "mezzotint/result.h"

namespace mezzotint {

using LabelCounts = std::array<std::int64_t, 256>;  // voxels of each label

struct LabelMask {
  LabelVolume volume;
  std::vector<std::string> notes;  // what was assumed
};

// One volume whose values lie within 1e-3 of whole numbers that `map` knows (2.9999999993 is 3).
// Anything else is refused with the values and their counts, and so is a mask without any label.
// `what` (the file's name) begins each error's line.
[[nodiscard]] Result<LabelMask> read_labels(const NiftiImage& image, const LabelMap& map,
                                            const LabelSet& recipe, std::string_view what);

// A mask that a model may be given: read with `stated`, which is what the user says the values
// mean, or else each label as itself. In the latter case labels that look raw are refused; in both,
// masks that lack the brain where the recipe needs it. Where `mezzotint prepare` makes a refused
// mask usable, the line says how, with `what` as the mask's name.
[[nodiscard]] Result<LabelMask> labels_from_nifti(const NiftiImage& image, const LabelSet& recipe,
                                                  std::string_view what,
                                                  const LabelMap* stated = nullptr);

// Whether labels are most likely those of raw annotations: the raw value is there, the label that
// it would be is not, and some other label is. So brain alone does not look raw.
[[nodiscard]] bool look_raw(const LabelCounts& counts, const LabelSet& recipe);

[[nodiscard]] LabelCounts count_labels(const LabelVolume& volume);

// "5586 brain, 229 tumour, 26953 background".
[[nodiscard]] std::string describe_counts(const LabelCounts& counts, const LabelSet& recipe);

// A map that says what look_raw() doubts: "1=1,2=2,4=4", each label that occurs as itself.
[[nodiscard]] std::string map_as_stored(const LabelCounts& counts);

}  // namespace mezzotint
