// Any bytes, as a whole checkpoint; or, when they do not begin as a zip does, as the pickle of a
// well-formed one, since its checksum would turn away nearly every mutation.
#include <string>

#include "formats/ckpt_writers.h"
#include "read_tensors.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  if (input.starts_with("PK")) {
    mezzotint::fuzz::read_tensors(std::span(data, size));
    return 0;
  }
  const std::string checkpoint = mezzotint::testing::make_checkpoint(
      std::string(input), {std::string(24, '\1'), std::string(16, '\2')});
  mezzotint::fuzz::read_tensors(
      std::span(reinterpret_cast<const std::uint8_t*>(checkpoint.data()), checkpoint.size()));
  return 0;
}
