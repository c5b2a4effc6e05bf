#include "backend/cpu/onednn/conv_slabs.h"

#include <algorithm>

namespace mezzotint {

std::vector<ConvSlab> split_depth(std::int64_t src_depth, std::int64_t dst_depth,
                                  std::int64_t kernel, std::int64_t stride, std::int64_t padding) {
  constexpr std::int64_t kMostSlabs = 32;
  if (padding >= kernel) {
    return {ConvSlab{0, dst_depth, 0, src_depth, padding, padding}};
  }
  const std::int64_t thickness = (dst_depth + kMostSlabs - 1) / kMostSlabs;
  std::vector<ConvSlab> slabs;
  for (std::int64_t begin = 0; begin < dst_depth; begin += thickness) {
    ConvSlab slab;
    slab.dst_begin = begin;
    slab.dst_depth = std::min(thickness, dst_depth - begin);
    const std::int64_t low = begin * stride - padding;
    const std::int64_t high = low + (slab.dst_depth - 1) * stride + kernel;
    slab.src_begin = std::max<std::int64_t>(low, 0);
    slab.src_depth = std::min(high, src_depth) - slab.src_begin;
    slab.pad_front = slab.src_begin - low;
    slab.pad_back = std::max<std::int64_t>(high - src_depth, 0);
    slabs.push_back(slab);
  }
  return slabs;
}

}  // namespace mezzotint
