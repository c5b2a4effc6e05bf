#include "pipeline/origin.h"

#include <nlohmann/json.hpp>
#include <vector>

#include "base/file.h"
#include "pipeline/sidecar.h"

namespace mezzotint {
namespace {

using Json = nlohmann::json;

constexpr std::uint64_t kLargestSidecar = 1 << 20;

// A text at a path such as "/Model/File".
std::string text_at(const Json& json, const char* path) {
  const Json::json_pointer at(path);
  return json.contains(at) && json[at].is_string() ? json[at].get<std::string>() : "";
}

}  // namespace

std::optional<Origin> read_origin(const std::filesystem::path& image) {
  Origin origin;
  origin.sidecar = sidecar_path(image);
  const auto bytes = read_file(origin.sidecar, kLargestSidecar);
  if (!bytes) {
    return std::nullopt;
  }
  const auto* text = reinterpret_cast<const char*>(bytes->data());
  const Json json = Json::parse(text, text + bytes->size(), nullptr, /*allow_exceptions=*/false);
  if (text_at(json, "/GeneratedBy/0/Name") != "Mezzotint") {
    return std::nullopt;
  }
  origin.version = text_at(json, "/GeneratedBy/0/Version");
  origin.model = text_at(json, "/Model/File");
  origin.mask = text_at(json, "/Mask/File");
  origin.sampler = text_at(json, "/Sampler");
  if (const auto steps = json.find("Steps"); steps != json.end() && steps->is_number_integer()) {
    origin.steps = steps->get<std::int64_t>();
  }
  if (const auto seed = json.find("Seed"); seed != json.end() && seed->is_number_unsigned()) {
    origin.seed = seed->get<std::uint64_t>();
  }
  return origin;
}

}  // namespace mezzotint
