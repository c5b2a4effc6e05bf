// Opens bytes as a tensor file and reads what it holds, as a program would.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/check.h"
#include "formats/tensor_file.h"
#include "memory_file.h"

namespace mezzotint::fuzz {

inline void read_tensors(std::span<const std::uint8_t> bytes) {
  constexpr std::size_t kMostRead = 64;  // a directory may name one storage thousands of times
  const MemoryFile memory(bytes);
  auto file = open_tensor_file(memory.path());
  if (!file) {
    check(!file.error().message.empty(), "an error says what is wrong");
    check(file.error().message.find('\n') == std::string::npos, "an error is one line");
    return;
  }
  const std::size_t count = std::min((*file)->tensors().size(), kMostRead);
  for (std::size_t i = 0; i < count; ++i) {
    const TensorInfo& tensor = (*file)->tensors()[i];
    const auto elements = static_cast<std::size_t>(tensor.elements);
    check(elements * size_of(tensor.dtype) <= bytes.size(), "no tensor is larger than its file");
    check((*file)->find(tensor.group, tensor.name) == i, "each tensor is found by its name");
    std::vector<float> values(elements);
    if (!(*file)->read_float(i, values).ok()) {
      continue;
    }
    std::vector<std::byte> raw(elements * size_of(tensor.dtype));
    check((*file)->read_bytes(i, raw).ok(), "what was read once can be read again");
  }
}

}  // namespace mezzotint::fuzz
