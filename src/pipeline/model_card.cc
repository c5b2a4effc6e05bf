#include "pipeline/model_card.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>
#include <string_view>

#include "base/error.h"
#include "base/file.h"
#include "base/quote.h"
#include "formats/json_limits.h"

namespace mezzotint {
namespace {

using Json = nlohmann::json;

constexpr std::uint64_t kLargestCard = 1 << 20;
constexpr std::int64_t kLargestSide = 4096;

// Reads one key at a time and remembers the first thing that is wrong.
class CardReader {
 public:
  explicit CardReader(const Json& json) : json_(json) {}

  [[nodiscard]] const std::string& problem() const { return problem_; }

  void read(std::optional<std::string>& out, const char* key) {
    if (const Json* value = find(key, &Json::is_string, "a text")) {
      out = value->get<std::string>();
    }
  }

  void read(std::optional<int>& out, const char* key) {
    if (const Json* value = find(key, &Json::is_number_integer, "a whole number")) {
      const auto number = value->get<std::int64_t>();
      if (number < 2 || number > 100000) {
        fail(key, "between 2 and 100000");
        return;
      }
      out = static_cast<int>(number);
    }
  }

  template <typename T>
  void read(std::optional<std::array<T, 3>>& out, const char* key, T least, T most) {
    const Json* value = find(key, &Json::is_array, "three numbers");
    if (value == nullptr) {
      return;
    }
    std::array<T, 3> numbers{};
    bool good = value->size() == 3;
    for (std::size_t i = 0; good && i < 3; ++i) {
      const Json& entry = (*value)[i];
      good = std::is_integral_v<T> ? entry.is_number_integer() : entry.is_number();
      if (good) {
        numbers[i] = entry.get<T>();
        good = numbers[i] >= least && numbers[i] <= most;
      }
    }
    if (!good) {
      fail(key, fmt::format("three {}numbers from {} to {}", std::is_integral_v<T> ? "whole " : "",
                            least, most));
      return;
    }
    out = numbers;
  }

  void read_labels(std::map<int, std::string>& out) {
    const Json* value = find("labels", &Json::is_object, "an object of label: name");
    if (value == nullptr) {
      return;
    }
    for (const auto& [key, name] : value->items()) {
      int label = 0;
      const auto [end, error] = std::from_chars(key.data(), key.data() + key.size(), label);
      if (error != std::errc{} || end != key.data() + key.size() || label < 1 || label > 255 ||
          !name.is_string()) {
        fail("labels", "names for labels 1 to 255");
        return;
      }
      out[label] = name.get<std::string>();
    }
  }

 private:
  const Json* find(const char* key, bool (Json::*is_type)() const noexcept, const char* expected) {
    const auto found = json_.find(key);
    if (found == json_.end()) {
      return nullptr;
    }
    if (!((*found).*is_type)()) {
      fail(key, expected);
      return nullptr;
    }
    return &*found;
  }

  void fail(const char* key, const std::string& expected) {
    if (problem_.empty()) {
      problem_ = fmt::format("\"{}\" must be {}", key, expected);
    }
  }

  const Json& json_;
  std::string problem_;
};

constexpr std::string_view kKeys[] = {"recipe",   "grid",      "spacing_mm", "frame",  "labels",
                                      "schedule", "timesteps", "weights",    "licence"};

}  // namespace

Result<ModelCard> read_model_card(const std::filesystem::path& path) {
  const auto bytes = read_file(path, kLargestCard);
  if (!bytes) {
    return bytes.error();
  }
  const std::string_view text(reinterpret_cast<const char*>(bytes->data()), bytes->size());
  if (const std::string problem = json_beyond_limits(text, kLargestCard); !problem.empty()) {
    return invalid_input("{}: {}", path.string(), problem);
  }
  const Json json = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object()) {
    return invalid_input("{}: not a JSON object", path.string());
  }
  for (const auto& [key, value] : json.items()) {
    if (std::find(std::begin(kKeys), std::end(kKeys), key) == std::end(kKeys)) {
      return invalid_input("{}: unknown key {}; known are {}", path.string(), in_quotes(key),
                           fmt::join(kKeys, ", "));
    }
  }
  ModelCard card;
  CardReader reader(json);
  std::optional<std::string> schedule;
  reader.read(card.recipe, "recipe");
  reader.read<std::int64_t>(card.grid, "grid", 1, kLargestSide);
  reader.read<double>(card.spacing_mm, "spacing_mm", 1e-3, 1e3);
  reader.read(card.frame, "frame");
  reader.read_labels(card.labels);
  reader.read(schedule, "schedule");
  reader.read(card.timesteps, "timesteps");
  reader.read(card.weights, "weights");
  reader.read(card.licence, "licence");
  if (!reader.problem().empty()) {
    return invalid_input("{}: {}", path.string(), reader.problem());
  }
  if (schedule && *schedule != "cosine") {
    return unsupported("{}: schedule {}: only cosine is known", path.string(),
                       in_quotes(*schedule));
  }
  return card;
}

}  // namespace mezzotint
