// How many tiles are worked on at a time. docs/winograd.md has the model.
#pragma once

#include <cstdint>

namespace mezzotint::kernels {

struct WinogradSizes {
  std::int64_t positions = 0;      // products per tile and pair of channels
  std::int64_t tiles = 0;          // of one sample
  std::int64_t channels = 0;       // inputs, rounded up to vectors
  std::int64_t panel_outputs = 0;  // outputs of one panel
  std::int64_t panels = 0;
};

// Tiles of a segment: what one worker takes, and what the moments of the result are summed over
// first. Depends on the shape alone, so that bytes depend on neither threads nor caches.
[[nodiscard]] std::int64_t segment_tiles(std::int64_t tiles);

// Tiles of a block: what is transformed, multiplied and finished before the next. Between 1 and
// `segment`. Changes no bytes.
[[nodiscard]] std::int64_t block_tiles(const WinogradSizes& sizes, std::int64_t segment,
                                       std::int64_t l2_bytes);

// Into how many groups the panels of a segment are dealt when there are fewer segments than
// workers. Each group repeats the transform of the inputs. Changes no bytes.
[[nodiscard]] std::int64_t panel_groups(const WinogradSizes& sizes, std::int64_t segments,
                                        std::int64_t threads);

// Floats between positions of an array of `row` floats each: an odd number of cache lines, so that
// positions do not share cache sets.
[[nodiscard]] std::int64_t position_stride(std::int64_t row);

}  // namespace mezzotint::kernels
