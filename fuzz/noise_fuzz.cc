// Any bytes as a noise file for a grid of 24 values and a sampler that draws twice: either one
// clear error, or finite values for each draw.
#include <algorithm>
#include <array>
#include <cmath>

#include "base/check.h"
#include "memory_file.h"
#include "pipeline/noise_input.h"

namespace {

using namespace mezzotint;

constexpr std::int64_t kElements = 24;
constexpr int kDraws = 2;

void check_line(const Error& error) {
  check(!error.message.empty(), "an error says what is wrong");
  check(error.message.find('\n') == std::string::npos, "an error is one line");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const fuzz::MemoryFile memory(std::span(data, size));
  auto noise = NoiseFile::open(memory.path(), kElements, kDraws);
  if (!noise) {
    check_line(noise.error());
    return 0;
  }
  check(noise->floats() >= kElements * (1 + kDraws), "x_T and each draw are there");
  check(static_cast<std::uint64_t>(noise->floats()) <= size, "no value takes less than a byte");
  if (Status status = noise->load(); !status) {
    check_line(status.error());
    return 0;
  }
  std::array<float, kElements> values;
  for (int draw = 0; draw <= kDraws; ++draw) {
    check(noise->read(draw, values).ok(), "what was promised can be read");
    check(std::all_of(values.begin(), values.end(), [](float v) { return std::isfinite(v); }),
          "noise is finite");
  }
  return 0;
}
