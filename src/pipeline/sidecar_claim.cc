#include "pipeline/sidecar_claim.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/file.h"

namespace mezzotint {
namespace {

using Json = nlohmann::json;

constexpr std::uint64_t kLargestSidecar = 1 << 20;

// A text at a path such as "/Model/File".
std::string text_at(const Json& json, const char* path) {
  const Json::json_pointer at(path);
  return json.contains(at) && json[at].is_string() ? json[at].get<std::string>() : "";
}

std::vector<ClaimedFile> claimed_files(const Json& json) {
  std::vector<ClaimedFile> files;
  const auto add = [&](const Json& file, std::string modality) {
    files.push_back({text_at(file, "/File"), std::move(modality), text_at(file, "/Sha256")});
  };
  if (const auto volumes = json.find("Volumes"); volumes != json.end() && volumes->is_array()) {
    for (const Json& volume : *volumes) {
      add(volume, text_at(volume, "/Modality"));
    }
  }
  if (const auto labels = json.find("Segmentation"); labels != json.end()) {
    add(*labels, "segmentation");
  }
  return files;
}

}  // namespace

Result<SidecarClaim> parse_sidecar(std::string_view text, std::string_view what) {
  const Json json = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  SidecarClaim claim;
  if (json.is_object()) {
    claim.files = claimed_files(json);
  }
  claim.run_sha256 = text_at(json, "/RunSha256");
  const bool hashed = std::ranges::none_of(claim.files, &std::string::empty, &ClaimedFile::sha256);
  if (text_at(json, "/GeneratedBy/0/Name") != "Mezzotint" || claim.run_sha256.empty() ||
      claim.files.empty() || !hashed) {
    return invalid_input("{}: is not the sidecar of a generated volume", what);
  }
  claim.version = text_at(json, "/GeneratedBy/0/Version");
  claim.model = text_at(json, "/Model/File");
  claim.mask = text_at(json, "/Mask/File");
  claim.sampler = text_at(json, "/Sampler");
  if (const auto steps = json.find("Steps"); steps != json.end() && steps->is_number_integer()) {
    claim.steps = steps->get<std::int64_t>();
  }
  if (const auto seed = json.find("Seed"); seed != json.end() && seed->is_number_unsigned()) {
    claim.seed = seed->get<std::uint64_t>();
  }
  return claim;
}

Result<SidecarClaim> read_sidecar(const std::filesystem::path& path) {
  const auto text = read_text_file(path, kLargestSidecar);
  if (!text) {
    return text.error();
  }
  return parse_sidecar(*text, path.string());
}

EarlierRun find_earlier_run(const OutputNames& names, const std::string& run_sha256,
                            const CancelToken* cancel) {
  const auto claim = read_sidecar(names.sidecar);
  if (!claim) {
    return EarlierRun::kNone;
  }
  if (claim->run_sha256 != run_sha256) {
    return EarlierRun::kOther;
  }
  std::vector<std::filesystem::path> files = names.volumes;
  if (names.mask) {
    files.push_back(*names.mask);
  }
  const auto is_gone = [](const std::filesystem::path& file) {
    std::error_code absent;
    return !std::filesystem::exists(std::filesystem::symlink_status(file, absent));
  };
  if (std::ranges::all_of(files, is_gone)) {
    return EarlierRun::kGone;
  }
  const auto is_whole = [&](const std::filesystem::path& file, const ClaimedFile& claimed) {
    const auto hash = hash_file(file, cancel);
    return hash && *hash == claimed.sha256;
  };
  return std::ranges::equal(files, claim->files, is_whole) ? EarlierRun::kThere
                                                           : EarlierRun::kDamaged;
}

}  // namespace mezzotint
