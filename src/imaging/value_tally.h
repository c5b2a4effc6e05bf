// Which values an image holds, and how often.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <span>
#include <string>

#include "formats/nifti.h"

namespace mezzotint {

// The whole number within 1e-3 of a value: scaling by a header's float32 slope makes 2.9999999993
// of a 3. Nothing for NaN and beyond 2^31.
[[nodiscard]] std::optional<std::int64_t> whole_number(double value);

struct ValueTally {
  static constexpr std::size_t kMostCounted = 1000;

  // The first kMostCounted distinct values, those near a whole number as that number.
  std::map<double, std::int64_t> counts;
  std::int64_t nan = 0;
  std::int64_t not_counted = 0;  // of further distinct values
  bool all_whole = true;
  // Of all values but NaN.
  double lowest = std::numeric_limits<double>::infinity();
  double highest = -std::numeric_limits<double>::infinity();

  void add(double value);
  [[nodiscard]] std::int64_t total() const;
  // "12 voxels are 7, 3 are 1.5, 1 is nan and 40 have other values", the `listed` most frequent.
  [[nodiscard]] std::string describe(std::size_t listed) const;
};

[[nodiscard]] ValueTally tally_values(const NiftiImage& image);

// Calls visit(index, value) for each voxel in the order of the file.
template <typename Visit>
void for_each_value(const NiftiImage& image, const Visit& visit) {
  std::array<double, 4096> block;
  const auto voxels = static_cast<std::size_t>(image.voxels());
  for (std::size_t first = 0; first < voxels; first += block.size()) {
    const std::size_t count = std::min(block.size(), voxels - first);
    image.read_values(static_cast<std::int64_t>(first), std::span(block).first(count));
    for (std::size_t i = 0; i < count; ++i) {
      visit(first + i, block[i]);
    }
  }
}

}  // namespace mezzotint
