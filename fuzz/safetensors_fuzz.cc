// Any bytes: either one clear error, or tensors that can all be read.
#include "read_tensors.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  mezzotint::fuzz::read_tensors(std::span(data, size));
  return 0;
}
