// Axis permutations and flips: voxels move, their world positions stay.
#pragma once

#include <array>
#include <string_view>

#include "imaging/volume.h"
#include "mezzotint/result.h"

namespace mezzotint {

// Output axis a runs along input axis source[a], backwards where flip[a].
struct Reorientation {
  std::array<int, 3> source{0, 1, 2};
  std::array<bool, 3> flip{};

  [[nodiscard]] bool is_identity() const;
  bool operator==(const Reorientation&) const = default;
};

// Three letters out of R/L, A/P, S/I in any order, a trailing + allowed ("RAS+", "LPS+").
// kInvalidInput for anything else.
[[nodiscard]] Result<std::array<AxisDirection, 3>> parse_frame(std::string_view frame);

// Brings the axes as near as possible to `frame`.
[[nodiscard]] Result<Reorientation> reorientation_to(const Affine& affine, std::string_view frame);

[[nodiscard]] Reorientation inverse(const Reorientation& reorientation);

// The dims and affine of a reoriented grid.
[[nodiscard]] Grid reorient(const Grid& grid, const Reorientation& reorientation);
[[nodiscard]] LabelVolume reorient(const LabelVolume& volume, const Reorientation& reorientation);
[[nodiscard]] Volume reorient(const Volume& volume, const Reorientation& reorientation);

}  // namespace mezzotint
