#include "pipeline/model_card.h"

#include <charconv>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include "base/error.h"
#include "base/file.h"
#include "base/quote.h"
#include "formats/json_fields.h"

namespace mezzotint {
namespace {

constexpr std::uint64_t kLargestCard = 1 << 20;
constexpr std::int64_t kLargestSide = 4096;
constexpr int kMostLabel = 255;

std::optional<std::string> read_text(JsonFields& fields, std::string_view key) {
  return fields.has(key) ? std::optional(fields.text(key, kLargestCard)) : std::nullopt;
}

std::map<int, std::string> read_labels(JsonFields& fields) {
  std::map<int, std::string> labels;
  for (const auto& [key, name] : fields.texts_by_name("labels", kMostLabel, kLargestCard)) {
    int label = 0;
    const auto [end, error] = std::from_chars(key.data(), key.data() + key.size(), label);
    if (error != std::errc{} || end != key.data() + key.size() || label < 1 || label > kMostLabel) {
      fields.refuse("labels", fmt::format("names for labels 1 to {}", kMostLabel));
    }
    labels[label] = name;
  }
  return labels;
}

ModelCard read_fields(JsonFields& fields) {
  ModelCard card;
  card.recipe = read_text(fields, "recipe");
  if (fields.has("grid")) {
    card.grid = fields.three_wholes("grid", 1, kLargestSide);
  }
  if (fields.has("spacing_mm")) {
    card.spacing_mm = fields.three_numbers("spacing_mm", 1e-3, 1e3);
  }
  card.frame = read_text(fields, "frame");
  if (fields.has("labels")) {
    card.labels = read_labels(fields);
  }
  if (fields.has("timesteps")) {
    card.timesteps = static_cast<int>(fields.whole("timesteps", 2, 100000));
  }
  card.weights = read_text(fields, "weights");
  card.licence = read_text(fields, "licence");
  return card;
}

}  // namespace

Result<ModelCard> read_model_card(const std::filesystem::path& path) {
  const auto text = read_text_file(path, kLargestCard);
  if (!text) {
    return text.error();
  }
  ModelCard card;
  std::optional<std::string> schedule;
  const Status status = read_json(*text, path.string(), kLargestCard, [&](JsonFields& fields) {
    card = read_fields(fields);
    schedule = read_text(fields, "schedule");
  });
  if (!status) {
    return status.error();
  }
  if (schedule && *schedule != "cosine") {
    return unsupported("{}: `schedule`: expected cosine, no other is known, found {}",
                       path.string(), in_quotes(*schedule));
  }
  return card;
}

}  // namespace mezzotint
