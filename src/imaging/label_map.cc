#include "imaging/label_map.h"

#include <algorithm>
#include <charconv>
#include <limits>

#include "base/check.h"
#include "base/error.h"
#include "base/quote.h"

namespace mezzotint {
namespace {

constexpr std::string_view kBackground = "background";

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kBlank = " \t";
  const std::size_t first = text.find_first_not_of(kBlank);
  if (first == std::string_view::npos) {
    return {};
  }
  return text.substr(first, text.find_last_not_of(kBlank) - first + 1);
}

char lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

bool same_name(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](char x, char y) { return lower(x) == lower(y); });
}

std::optional<std::int32_t> parse_number(std::string_view text) {
  std::int32_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) {
    return std::nullopt;
  }
  return number;
}

bool has_label(const LabelSet& recipe, int label) {
  return label == 0 || std::any_of(recipe.labels.begin(), recipe.labels.end(),
                                   [&](const LabelName& known) { return known.value == label; });
}

// By number or name; nothing when there is none, or when several have that name.
std::optional<std::uint8_t> find_label(std::string_view text, const LabelSet& recipe) {
  if (const auto number = parse_number(text)) {
    return has_label(recipe, *number) ? std::optional(static_cast<std::uint8_t>(*number))
                                      : std::nullopt;
  }
  std::vector<int> found;
  if (same_name(text, kBackground)) {
    found.push_back(0);
  }
  for (const LabelName& label : recipe.labels) {
    if (same_name(text, label.name)) {
      found.push_back(label.value);
    }
  }
  return found.size() == 1 ? std::optional(static_cast<std::uint8_t>(found[0])) : std::nullopt;
}

Error malformed(std::string_view part) {
  return invalid_input(
      "label-map: {} is not VALUE=LABEL, expected a list such as \"1=1,2=background\"",
      in_quotes(part));
}

// One VALUE=LABEL into `map`.
Status add_entry(std::string_view entry, const LabelSet& recipe, LabelMap& map) {
  const std::size_t equals = entry.find('=');
  const std::string_view source = trimmed(entry.substr(0, equals));
  if (equals == std::string_view::npos || source.empty()) {
    return malformed(entry);
  }
  const std::string_view target = trimmed(entry.substr(equals + 1));
  const auto label = find_label(target, recipe);
  if (!label) {
    return invalid_input("label-map: {} in {} is no label of this model, expected one of {}",
                         in_quotes(target), in_quotes(entry), list_labels(recipe));
  }
  bool is_new = true;
  if (source == "*") {
    is_new = !map.others.has_value();
    map.others = label;
  } else if (const auto value = parse_number(source)) {
    is_new = map.labels.emplace(*value, *label).second;
  } else {
    return invalid_input("label-map: {} in {} is neither a whole number (up to {}) nor *",
                         in_quotes(source), in_quotes(entry),
                         std::numeric_limits<std::int32_t>::max());
  }
  if (!is_new) {
    return invalid_input("label-map: {} is listed twice", in_quotes(source));
  }
  return {};
}

}  // namespace

std::optional<std::uint8_t> LabelMap::find(std::int64_t value) const {
  const auto found = labels.find(value);
  return found != labels.end() ? std::optional(found->second) : others;
}

LabelMap own_labels(const LabelSet& recipe) {
  LabelMap map;
  map.labels.emplace(0, 0);
  if (recipe.minus_one_is_background) {
    map.labels.emplace(-1, 0);
  }
  for (const LabelName& label : recipe.labels) {
    check(label.value >= 1 && label.value <= 255, "a recipe's labels are 1 to 255");
    map.labels.emplace(label.value, static_cast<std::uint8_t>(label.value));
  }
  return map;
}

Result<LabelMap> parse_label_map(std::string_view text, const LabelSet& recipe) {
  LabelMap map;
  for (std::string_view rest = text;;) {
    const std::size_t comma = rest.find(',');
    if (Status status = add_entry(trimmed(rest.substr(0, comma)), recipe, map); !status) {
      return status.error();
    }
    if (comma == std::string_view::npos) {
      break;
    }
    rest.remove_prefix(comma + 1);
  }
  for (const auto& [value, label] : own_labels(recipe).labels) {
    if (label == 0) {
      map.labels.emplace(value, label);
    }
  }
  return map;
}

std::vector<int> labels_but_brain(const LabelSet& recipe) {
  std::vector<int> labels;
  for (const LabelName& label : recipe.labels) {
    if (label.value != recipe.brain) {
      labels.push_back(label.value);
    }
  }
  return labels;
}

std::string list_labels(const LabelSet& recipe) {
  std::string text = fmt::format("0 ({})", kBackground);
  for (const LabelName& label : recipe.labels) {
    text += fmt::format(", {} ({})", label.value, label.name);
  }
  return text;
}

std::string label_name(const LabelSet& recipe, int label) {
  if (label == 0) {
    return std::string(kBackground);
  }
  for (const LabelName& known : recipe.labels) {
    if (known.value == label) {
      return known.name;
    }
  }
  return fmt::format("{}", label);
}

}  // namespace mezzotint
