// The JSON beside a generated volume: how to make the same bytes again, and what it cost.
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "mezzotint/generate.h"
#include "pipeline/chain.h"
#include "pipeline/condition.h"
#include "pipeline/model.h"
#include "pipeline/plan_file.h"
#include "pipeline/session.h"

namespace mezzotint {

struct WrittenVolume {
  std::filesystem::path file;
  std::string modality;
  std::string voxels_sha256;  // of the voxels as written, float32 little-endian
  std::string file_sha256;
};

// The labels beside several volumes.
struct WrittenMask {
  std::filesystem::path file;
  std::string file_sha256;
};

struct SidecarFacts {
  const GenerateRequest& request;
  const Model& model;
  const Condition& condition;
  const Session& session;
  const Machine& machine;
  const GenerateReport& report;
  const Chain& chain;
  const std::vector<WrittenVolume>& volumes;
  const std::optional<WrittenMask>& segmentation;
  std::string run_sha256;          // run_sha256() of the run
  std::string noise_sha256;        // of --noise; empty: the seed's
  const PlanFile* plan = nullptr;  // null: the default
};

// BIDS style (CamelCase keys; Gorgolewski et al., Scientific Data 2016), UTF-8, ending in a
// newline.
[[nodiscard]] std::string make_sidecar(const SidecarFacts& facts);

}  // namespace mezzotint
