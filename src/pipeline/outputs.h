// The files that generate writes: all of them or none.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>

#include "base/file.h"
#include "mezzotint/generate.h"

namespace mezzotint {

struct Outputs {
  OutputFile volume;
  OutputFile sidecar;
  std::optional<OutputFile> preview;
};

// By the name's ending: .nii.gz.
[[nodiscard]] bool is_compressed(const std::filesystem::path& out);

// --overwrite replaces results, never what they are made from: kInvalidInput when an output is one
// of the inputs, by whatever name.
Status check_outputs_spare_inputs(std::span<const std::filesystem::path> outputs,
                                  std::span<const std::filesystem::path> inputs);

// All files under their names, the volume last: where it is, everything is. When one cannot appear,
// those before it are taken back with `outputs` (OutputFile::publish()).
Status commit(Outputs& outputs);

// Created before the work: a full disk or a folder that cannot be written is known at once.
// `voxels` of the volume.
Result<Outputs> create_outputs(const GenerateRequest& request, std::int64_t voxels);

}  // namespace mezzotint
