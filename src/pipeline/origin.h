// What a sidecar tells of the volume beside it.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "pipeline/sidecar_claim.h"

namespace mezzotint {

struct Origin {
  std::filesystem::path sidecar;
  SidecarClaim claim;
  std::string modality;    // of the volume; "segmentation" of the labels beside several
  bool unchanged = false;  // the file is, byte for byte, the one that was written
};

// Of the file with this name and this hash. Nothing unless the claim lists it. `sidecar` stays
// empty.
[[nodiscard]] std::optional<Origin> origin_of(const SidecarClaim& claim, const std::string& name,
                                              const std::string& sha256);

// `sha256` is of the image's file. Nothing unless a sidecar of Mezzotint's beside the image lists
// it: other programs put JSON beside images too.
[[nodiscard]] std::optional<Origin> read_origin(const std::filesystem::path& image,
                                                const std::string& sha256);

}  // namespace mezzotint
