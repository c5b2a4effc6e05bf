#include "pipeline/origin.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <vector>

#include "base/file.h"
#include "pipeline/outputs.h"

namespace mezzotint {
namespace {

using Json = nlohmann::json;

constexpr std::uint64_t kLargestSidecar = 1 << 20;

// A text at a path such as "/Model/File".
std::string text_at(const Json& json, const char* path) {
  const Json::json_pointer at(path);
  return json.contains(at) && json[at].is_string() ? json[at].get<std::string>() : "";
}

// The entry of "Volumes" with this file name; null without one.
const Json* volume_in(const Json& json, const std::string& name) {
  const auto volumes = json.is_object() ? json.find("Volumes") : json.end();
  if (volumes == json.end() || !volumes->is_array()) {
    return nullptr;
  }
  const auto found = std::ranges::find_if(
      *volumes, [&](const Json& volume) { return text_at(volume, "/File") == name; });
  return found == volumes->end() ? nullptr : &*found;
}

// "scan_t1.nii.gz": scan_t1.json, or scan.json where it is one of several volumes.
std::vector<std::filesystem::path> possible_sidecars(const std::filesystem::path& image) {
  std::vector<std::filesystem::path> paths{sidecar_path(image)};
  const std::string stem = paths[0].stem().string();
  if (const std::size_t mark = stem.rfind('_'); mark != std::string::npos) {
    paths.push_back(image.parent_path() / (stem.substr(0, mark) + ".json"));
  }
  return paths;
}

Origin origin_from(const Json& json, const Json& volume) {
  Origin origin;
  origin.version = text_at(json, "/GeneratedBy/0/Version");
  origin.modality = text_at(volume, "/Modality");
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

}  // namespace

std::optional<Origin> parse_origin(std::string_view text, const std::string& name,
                                   const std::string& sha256) {
  const Json json = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (text_at(json, "/GeneratedBy/0/Name") != "Mezzotint") {
    return std::nullopt;
  }
  const Json* volume = volume_in(json, name);
  if (volume == nullptr) {
    return std::nullopt;
  }
  Origin origin = origin_from(json, *volume);
  origin.unchanged = text_at(*volume, "/Sha256") == sha256;
  return origin;
}

std::optional<Origin> read_origin(const std::filesystem::path& image, const std::string& sha256) {
  for (const std::filesystem::path& path : possible_sidecars(image)) {
    const auto bytes = read_file(path, kLargestSidecar);
    if (!bytes) {
      continue;
    }
    const std::string_view text(reinterpret_cast<const char*>(bytes->data()), bytes->size());
    if (auto origin = parse_origin(text, image.filename().string(), sha256)) {
      origin->sidecar = path;
      return origin;
    }
  }
  return std::nullopt;
}

}  // namespace mezzotint
