// Places buffers with known lifetimes in one arena.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace mezzotint {

// A buffer alive from op `first` to op `last`, both included.
struct BufferRequest {
  std::size_t bytes = 0;
  std::size_t first = 0;
  std::size_t last = 0;
};

struct BufferPlacement {
  std::vector<std::size_t> offsets;  // one per request, multiples of AlignedBuffer::kAlignment
  std::size_t total_bytes = 0;
};

// Greedy by size: the largest buffers first, each at the lowest offset free during its whole life
// (Pisarchyk & Lee, "Efficient memory management for deep neural net inference", 2020).
[[nodiscard]] BufferPlacement place_buffers(std::span<const BufferRequest> requests);

}  // namespace mezzotint
