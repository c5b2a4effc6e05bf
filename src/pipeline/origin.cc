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

// Nothing for what cannot be read; a discarded value, which holds nothing, for what is no JSON.
std::optional<Json> read_json(const std::filesystem::path& path) {
  const auto bytes = read_file(path, kLargestSidecar);
  if (!bytes) {
    return std::nullopt;
  }
  const auto* text = reinterpret_cast<const char*>(bytes->data());
  return Json::parse(text, text + bytes->size(), nullptr, /*allow_exceptions=*/false);
}

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

std::optional<Origin> read_origin(const std::filesystem::path& image, const std::string& sha256) {
  for (const std::filesystem::path& path : possible_sidecars(image)) {
    const auto json = read_json(path);
    if (!json || text_at(*json, "/GeneratedBy/0/Name") != "Mezzotint") {
      continue;
    }
    if (const Json* volume = volume_in(*json, image.filename().string())) {
      Origin origin = origin_from(*json, *volume);
      origin.sidecar = path;
      origin.unchanged = text_at(*volume, "/Sha256") == sha256;
      return origin;
    }
  }
  return std::nullopt;
}

}  // namespace mezzotint
