// A packed file in memory.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "formats/gzip.h"

namespace mezzotint::testing {

inline std::vector<std::byte> gzipped(std::span<const std::byte> content) {
  std::vector<std::byte> packed;
  const Status status = gzip(content, [&](std::span<const std::byte> bytes) {
    packed.insert(packed.end(), bytes.begin(), bytes.end());
    return Status();
  });
  return status ? packed : std::vector<std::byte>();
}

}  // namespace mezzotint::testing
