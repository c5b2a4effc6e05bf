// Any bytes as model.json: either one clear error, or a card within the limits that docs/formats.md
// states.
#include <algorithm>

#include "base/check.h"
#include "memory_file.h"
#include "pipeline/model_card.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace mezzotint;
  const fuzz::MemoryFile memory(std::span(data, size));
  const auto card = read_model_card(memory.path());
  if (!card) {
    check(!card.error().message.empty(), "an error says what is wrong");
    check(card.error().message.find('\n') == std::string::npos, "an error is one line");
    return 0;
  }
  if (card->grid) {
    check(std::ranges::all_of(*card->grid, [](std::int64_t n) { return n >= 1 && n <= 4096; }),
          "sides are 1 to 4096");
  }
  if (card->spacing_mm) {
    check(std::ranges::all_of(*card->spacing_mm, [](double s) { return s >= 1e-3 && s <= 1e3; }),
          "voxel sizes are 0.001 to 1000 mm");
  }
  check(!card->timesteps || (*card->timesteps >= 2 && *card->timesteps <= 100000),
        "timesteps are 2 to 100000");
  check(std::ranges::all_of(
            card->labels, [](const auto& label) { return label.first >= 1 && label.first <= 255; }),
        "labels are 1 to 255");
  return 0;
}
