// The labels that a recipe knows, and what the values of a mask's file mean.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "mezzotint/result.h"

namespace mezzotint {

struct LabelName {
  int value = 0;  // 1..255; 0 is background
  std::string name;
};

// In annotations as they are published, value `stored` is what the recipe has as label `means`.
struct RawLabel {
  int stored = 0;
  int means = 0;
};

struct LabelSet {
  std::vector<LabelName> labels;
  // The BraTS preparation script marks background with -1.
  bool minus_one_is_background = false;
  int brain = 0;   // its label; 0: none is known
  int tumour = 0;  // the one label of all tumour; 0: none, or several
  bool needs_brain = false;
  std::optional<RawLabel> raw;
  std::string recipe;  // its name; for messages
};

// What each stored whole number means.
struct LabelMap {
  std::map<std::int64_t, std::uint8_t> labels;
  // Of every value that `labels` does not list; nothing: such values are refused.
  std::optional<std::uint8_t> others;

  [[nodiscard]] std::optional<std::uint8_t> find(std::int64_t value) const;
};

// Each label as itself, 0 as background, and -1 too where the recipe says so.
[[nodiscard]] LabelMap own_labels(const LabelSet& recipe);

// "1=brain,2=tumour,*=background": whole numbers, or * for every value that is not listed, and
// labels by number or by name in any case. What own_labels() takes for background stays so unless
// it is listed. kInvalidInput with one line for everything else.
[[nodiscard]] Result<LabelMap> parse_label_map(std::string_view text, const LabelSet& recipe);

// The values of all labels that are not brain.
[[nodiscard]] std::vector<int> labels_but_brain(const LabelSet& recipe);
// "0 (background), 1 (brain), 2 (tumour)".
[[nodiscard]] std::string list_labels(const LabelSet& recipe);
// "brain", "background", ...; the number itself for a label without a name.
[[nodiscard]] std::string label_name(const LabelSet& recipe, int label);

}  // namespace mezzotint
