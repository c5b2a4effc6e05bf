// Weights into the Winograd domain.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "backend/cpu/kernels/conv_winograd/matrices.h"

namespace mezzotint::kernels {

// Input channels of one source: `count` of the weight's, then zeros up to `padded`.
struct ChannelRange {
  std::int64_t count = 0;
  std::int64_t padded = 0;
};

// U[panel][position][channel][output]: panels are `panel` outputs wide, but for the last, which is
// as wide as the vectors that are left.
struct PackedLayout {
  std::int64_t outputs = 0;         // that exist
  std::int64_t padded_outputs = 0;  // rounded up to vectors
  std::int64_t panel = 0;
  std::vector<ChannelRange> sources;

  [[nodiscard]] std::int64_t channels() const;  // padded
  [[nodiscard]] std::int64_t panels() const;
  [[nodiscard]] std::int64_t panel_width(std::int64_t panel_index) const;
  // Of a panel's first float, in an array of `positions` positions.
  [[nodiscard]] std::int64_t panel_offset(std::int64_t panel_index, std::int64_t positions) const;
  [[nodiscard]] std::int64_t elements(std::int64_t positions) const;
};

// plain: [outputs][channels][3][3][3]. Computed in double, rounded once.
void pack_weights(const WinogradMatrices& matrices, const PackedLayout& layout,
                  std::span<const float> plain, std::span<float> packed);

}  // namespace mezzotint::kernels
