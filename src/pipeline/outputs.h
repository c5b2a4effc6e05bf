// The files that generate writes: all of them or none.
#pragma once

#include <cstdint>
#include <optional>

#include "base/file.h"
#include "mezzotint/generate.h"
#include "pipeline/model.h"

namespace mezzotint {

struct Outputs {
  OutputFile volume;
  OutputFile sidecar;
  std::optional<OutputFile> preview;
};

// By the name's ending: .nii.gz.
[[nodiscard]] bool is_compressed(const std::filesystem::path& out);

// --overwrite replaces results, never what they are made from: kInvalidInput when an output is the
// mask, the checkpoint, its model.json or the noise file, by whatever name.
Status check_outputs_spare_inputs(const GenerateRequest& request, const Model& model);

// Created before the work: a full disk or a folder that cannot be written is known at once.
// `voxels` of the volume.
Result<Outputs> create_outputs(const GenerateRequest& request, std::int64_t voxels);

}  // namespace mezzotint
