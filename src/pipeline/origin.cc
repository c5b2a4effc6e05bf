#include "pipeline/origin.h"

#include <algorithm>
#include <vector>

#include "pipeline/outputs.h"

namespace mezzotint {
namespace {

// "scan_t1.nii.gz": scan_t1.json, or scan.json where it is one of several volumes.
std::vector<std::filesystem::path> possible_sidecars(const std::filesystem::path& image) {
  std::vector<std::filesystem::path> paths{sidecar_path(image)};
  const std::string stem = paths[0].stem().string();
  if (const std::size_t mark = stem.rfind('_'); mark != std::string::npos) {
    paths.push_back(image.parent_path() / (stem.substr(0, mark) + ".json"));
  }
  return paths;
}

}  // namespace

std::optional<Origin> origin_of(const SidecarClaim& claim, const std::string& name,
                                const std::string& sha256) {
  const auto file = std::ranges::find(claim.files, name, &ClaimedFile::name);
  if (file == claim.files.end()) {
    return std::nullopt;
  }
  return Origin{{}, claim, file->modality, file->sha256 == sha256};
}

std::optional<Origin> read_origin(const std::filesystem::path& image, const std::string& sha256) {
  for (const std::filesystem::path& path : possible_sidecars(image)) {
    const auto claim = read_sidecar(path);
    auto origin = claim ? origin_of(*claim, image.filename().string(), sha256) : std::nullopt;
    if (origin) {
      origin->sidecar = path;
      return origin;
    }
  }
  return std::nullopt;
}

}  // namespace mezzotint
