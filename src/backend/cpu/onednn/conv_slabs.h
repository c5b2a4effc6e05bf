// Cuts a convolution's output into slabs along depth, each computed by one single-threaded call.
//
// The cut depends on the shape alone, so the bytes of the result do not depend on the number of
// threads: the vendor library, left to split the work itself, chooses its blocking (and with it the
// order of its sums) by the number of threads. In a channels-last volume a slab is contiguous.
#pragma once

#include <cstdint>
#include <vector>

namespace mezzotint {

struct ConvSlab {
  std::int64_t dst_begin = 0;  // first output plane
  std::int64_t dst_depth = 0;
  std::int64_t src_begin = 0;  // first input plane it reads
  std::int64_t src_depth = 0;
  std::int64_t pad_front = 0;  // planes of zeros before and behind these
  std::int64_t pad_back = 0;
};

// At most 32 slabs of nearly equal depth: enough to occupy the threads of one socket, and slabs of
// one plane cost no measurable speed. One slab when padding >= kernel, where an output plane may
// read padding only.
[[nodiscard]] std::vector<ConvSlab> split_depth(std::int64_t src_depth, std::int64_t dst_depth,
                                                std::int64_t kernel, std::int64_t stride,
                                                std::int64_t padding);

}  // namespace mezzotint
