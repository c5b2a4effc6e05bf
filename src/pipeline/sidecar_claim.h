// What the JSON beside a generated volume claims, and whether it is so.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "mezzotint/cancel.h"
#include "mezzotint/result.h"
#include "pipeline/outputs.h"

namespace mezzotint {

struct ClaimedFile {
  std::string name;      // without folders
  std::string modality;  // "segmentation" of the labels beside several volumes
  std::string sha256;
};

// Texts are as the file has them, and empty where it has none.
struct SidecarClaim {
  std::string run_sha256;
  std::vector<ClaimedFile> files;  // the volumes in order, then the segmentation; at least one
  std::string version;             // of Mezzotint
  std::string model;               // file names, without folders
  std::string mask;
  std::string sampler;
  std::int64_t steps = 0;
  std::optional<std::uint64_t> seed;  // nothing: the noise came from a file
};

// Any text; `what` (the file's name) begins the error's line. kInvalidInput when it is no sidecar
// of Mezzotint's.
Result<SidecarClaim> parse_sidecar(std::string_view text, std::string_view what);

// Besides, kNotFound, and kInvalidInput for a file of more than 1 MiB.
Result<SidecarClaim> read_sidecar(const std::filesystem::path& path);

// What an earlier run has left under the names of this one.
enum class EarlierRun : std::uint8_t {
  kNone,     // no sidecar, or none that can be read as one
  kThere,    // this very run's volumes and mask, byte for byte
  kGone,     // its sidecar alone
  kDamaged,  // its sidecar, and files that are not all as it says
  kOther,    // a run with other inputs or settings
};
// By the run's hash. Reads the files of `names` and no others.
[[nodiscard]] EarlierRun find_earlier_run(const OutputNames& names, const std::string& run_sha256,
                                          const CancelToken* cancel);

}  // namespace mezzotint
