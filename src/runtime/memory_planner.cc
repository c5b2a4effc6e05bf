#include "runtime/memory_planner.h"

#include <algorithm>
#include <numeric>

#include "base/aligned_buffer.h"

namespace mezzotint {
namespace {

bool overlap_in_time(const BufferRequest& a, const BufferRequest& b) {
  return a.first <= b.last && b.first <= a.last;
}

}  // namespace

BufferPlacement place_buffers(std::span<const BufferRequest> requests) {
  BufferPlacement placement;
  placement.offsets.assign(requests.size(), 0);
  std::vector<std::size_t> order(requests.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return requests[a].bytes > requests[b].bytes;
  });

  std::vector<std::size_t> placed;  // by offset
  for (const std::size_t current : order) {
    std::size_t offset = 0;
    for (const std::size_t other : placed) {
      if (!overlap_in_time(requests[current], requests[other])) {
        continue;
      }
      if (offset + align_up(requests[current].bytes) <= placement.offsets[other]) {
        break;  // fits into the gap before `other`
      }
      offset = std::max(offset, placement.offsets[other] + align_up(requests[other].bytes));
    }
    placement.offsets[current] = offset;
    placement.total_bytes =
        std::max(placement.total_bytes, offset + align_up(requests[current].bytes));
    const auto position =
        std::upper_bound(placed.begin(), placed.end(), offset,
                         [&](std::size_t at, std::size_t b) { return at < placement.offsets[b]; });
    placed.insert(position, current);
  }
  return placement;
}

}  // namespace mezzotint
