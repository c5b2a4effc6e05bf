// Out of what people have, the labels that a recipe needs: what a mask's values mean, where the
// brain is in a T1-weighted image, and what another mask adds.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "formats/nifti.h"
#include "imaging/labels.h"
#include "imaging/value_tally.h"
#include "mezzotint/result.h"

namespace mezzotint {

// A mask's labels and how they were told, one line each; no line: each value is its own label.
struct Reading {
  LabelMask mask;
  std::vector<std::string> done;
};

// Whether read_unexplained() takes these values for a mask of the brain alone.
[[nodiscard]] bool is_brain_mask(const ValueTally& values, const LabelSet& recipe);

// Reads a mask whose values nobody has explained. In this order:
//   - labels of the recipe are themselves, unless they look raw: then the raw value is what it
//   means
//     in raw annotations;
//   - where the recipe's label 1 is brain, a mask with a single value above 0 is a mask of the
//   brain;
//   - and so is one of values from 0 to 1, probabilities: from 0.5 on.
// Everything else is refused with the values and their counts. `values` are the image's.
[[nodiscard]] Result<Reading> read_unexplained(const NiftiImage& image, const ValueTally& values,
                                               const LabelSet& recipe, std::string_view what);

// Part of a grid.
struct Region {
  std::vector<std::uint8_t> inside;  // 1 or 0 for each voxel
  std::int64_t voxels = 0;           // of those inside
  std::string rule;                  // "every value above 0", ...
};

// What a mask of one structure covers: every whole number above 0, or, when all values lie between
// 0 and 1, those from 0.5 on. Refused: negative and other fractional values, NaN, an empty mask.
[[nodiscard]] Result<Region> region_of_mask(const NiftiImage& image, std::string_view what);

// The brain in a skull-stripped T1-weighted image: all that is not air. Air is the value that the
// outer faces of the volume hold: exactly 0 or the minimum after skull-stripping, 0 among negative
// values after standardising inside the brain; a voxel of any other value is brain. NaN is air.
// Refused: faces of which less than nine tenths hold one value (noise around a head, or no air at
// all), an image with nothing but air, infinite values.
[[nodiscard]] Result<Region> brain_of_t1(const NiftiImage& t1, std::string_view what);

// kInvalidInput, with both geometries, unless corresponding voxel centres of the two grids are
// nearer to each other than a tenth of the smallest spacing.
[[nodiscard]] Status check_same_grid(const Grid& mask, std::string_view mask_what,
                                     const Grid& other, std::string_view other_what);

// `label` wherever the region is and the mask is background. Returns how many voxels that were.
std::int64_t fill_background(LabelVolume& mask, const Region& region, std::uint8_t label);

}  // namespace mezzotint
