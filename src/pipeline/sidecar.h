// The JSON beside a generated volume: how to make the same bytes again, and what it cost.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include "mezzotint/generate.h"
#include "pipeline/condition.h"
#include "pipeline/model.h"
#include "pipeline/session.h"

namespace mezzotint {

// "scan.nii.gz" and "scan.nii" -> "scan.json", in the same folder.
[[nodiscard]] std::filesystem::path sidecar_path(const std::filesystem::path& out);

struct SidecarFacts {
  const GenerateRequest& request;
  const Model& model;
  const Condition& condition;
  const Session& session;
  const Machine& machine;
  const GenerateReport& report;
  const std::vector<int>& timesteps;  // visited, descending
  int schedule_timesteps = 0;
  std::string noise_sha256;   // of --noise; empty: the seed's
  std::string volume_sha256;  // of the voxels as written, float32 little-endian
};

// BIDS style (CamelCase keys; Gorgolewski et al., Scientific Data 2016), UTF-8, ending in a
// newline.
[[nodiscard]] std::string make_sidecar(const SidecarFacts& facts);

}  // namespace mezzotint
