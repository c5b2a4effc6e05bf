// What the JSON beside a generated volume claims, and whether it is so.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "mezzotint/cancel.h"
#include "mezzotint/result.h"
#include "pipeline/outputs.h"

namespace mezzotint {

struct SidecarClaim {
  std::string run_sha256;
  std::vector<std::string> file_sha256;  // of the volumes in order, then of the segmentation
};
// Any text; `what` (the file's name) begins the error's line. kInvalidInput when it is no sidecar.
Result<SidecarClaim> parse_sidecar(std::string_view text, std::string_view what);

// Whether the run with this hash has left the volumes and the mask of `names`, byte for byte. False
// when there is no sidecar, and for whatever cannot be read as one. Reads the files of `names` and
// no others.
[[nodiscard]] bool are_there(const OutputNames& names, const std::string& run_sha256,
                             const CancelToken* cancel);

}  // namespace mezzotint
