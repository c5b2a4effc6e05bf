#include "pipeline/sidecar_claim.h"

#include <algorithm>
#include <cstdint>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/file.h"

namespace mezzotint {
namespace {

constexpr std::uint64_t kLargestSidecar = 1 << 20;

bool has_text(const nlohmann::json& json, const char* key) {
  return json.is_object() && json.contains(key) && json[key].is_string();
}

}  // namespace

Result<SidecarClaim> parse_sidecar(std::string_view text, std::string_view what) {
  const auto json = nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false);
  std::vector<nlohmann::json> files;
  if (json.is_object() && json.contains("Volumes") && json["Volumes"].is_array()) {
    files = json["Volumes"].get<std::vector<nlohmann::json>>();
  }
  if (json.is_object() && json.contains("Segmentation")) {
    files.push_back(json["Segmentation"]);
  }
  const auto has_hash = [](const nlohmann::json& file) { return has_text(file, "Sha256"); };
  if (!has_text(json, "RunSha256") || files.empty() || !std::ranges::all_of(files, has_hash)) {
    return invalid_input("{}: is not the sidecar of a generated volume", what);
  }
  SidecarClaim claim;
  claim.run_sha256 = json["RunSha256"].get<std::string>();
  for (const nlohmann::json& file : files) {
    claim.file_sha256.push_back(file["Sha256"].get<std::string>());
  }
  return claim;
}

bool are_there(const OutputNames& names, const std::string& run_sha256, const CancelToken* cancel) {
  const auto bytes = read_file(names.sidecar, kLargestSidecar);
  if (!bytes) {
    return false;
  }
  const std::string_view text(reinterpret_cast<const char*>(bytes->data()), bytes->size());
  const auto claim = parse_sidecar(text, names.sidecar.string());
  if (!claim || claim->run_sha256 != run_sha256) {
    return false;
  }
  std::vector<std::filesystem::path> files = names.volumes;
  if (names.mask) {
    files.push_back(*names.mask);
  }
  return std::ranges::equal(files, claim->file_sha256,
                            [&](const std::filesystem::path& file, const std::string& stated) {
                              const auto hash = hash_file(file, cancel);
                              return hash && *hash == stated;
                            });
}

}  // namespace mezzotint
