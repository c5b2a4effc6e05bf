// Any text as --label-map: either one clear error, or a map to labels that the model has, in which
// background stays background unless it is listed.
#include <algorithm>
#include <string_view>

#include "base/check.h"
#include "imaging/label_map.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace mezzotint;
  LabelSet recipe;
  recipe.labels = {{1, "brain"}, {2, "tumour"}, {200, "Other"}};
  recipe.minus_one_is_background = size % 2 == 0;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto map = parse_label_map(text, recipe);
  if (!map) {
    check(!map.error().message.empty(), "an error says what is wrong");
    check(map.error().message.find('\n') == std::string::npos, "an error is one line");
    return 0;
  }
  const auto known = [](std::uint8_t label) {
    return label == 0 || label == 1 || label == 2 || label == 200;
  };
  check(std::ranges::all_of(map->labels, [&](const auto& entry) { return known(entry.second); }),
        "each value means a label of the model");
  check(!map->others || known(*map->others), "the others mean one too");
  check(map->labels.contains(0), "background means something");
  check(!recipe.minus_one_is_background || map->labels.contains(-1), "and so does -1");
  // Nothing is listed twice, so the order does not matter.
  check(map->labels.size() <= static_cast<std::size_t>(std::ranges::count(text, ',')) + 3,
        "as many values as are listed, 0 and -1");
  return 0;
}
