// What is in a file? The content decides, not the name.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "mezzotint/cancel.h"
#include "mezzotint/result.h"
#include "pipeline/inspect_image.h"
#include "pipeline/inspect_model.h"
#include "pipeline/inspect_record.h"
#include "pipeline/run_state.h"
#include "pipeline/sidecar_claim.h"

namespace mezzotint {

struct InspectRequest {
  std::filesystem::path path;  // a file, or a model folder
  // Of a checkpoint, or of `model`: ema or model. Default: ema, else model.
  std::optional<std::string> weights;
  // Of the same: a name that variant_from_name() knows. Default: auto.
  std::optional<std::string> variant;
  std::optional<std::array<std::int64_t, 3>> size;  // x, y, z; default: the model's grid
  std::optional<std::filesystem::path> model;       // an image is judged as a mask of this one too
  bool check = true;  // read every weight and look for values that are not finite
};

enum class InspectKind : std::uint8_t {
  kModel,        // a checkpoint or model folder that `generate` takes
  kTensors,      // tensors that are no Med-DDPM model
  kNoise,        // for `generate --noise`
  kActivations,  // of `bench --dump`
  kImage,        // NIfTI
  kSidecar,      // the JSON beside a generated volume
  kRunState,     // of an interrupted run
  kRecord,       // of measuring: RecordSummary::kind says which
};

// "model", "tensors", "noise", "activations", "image", "sidecar", "run state", "record".
[[nodiscard]] std::string_view name_of(InspectKind kind);

struct InspectReport {
  std::filesystem::path path;
  InspectKind kind = InspectKind::kTensors;
  std::optional<TensorsSummary> tensors;  // of the first four kinds
  std::optional<ModelSummary> model;      // of kModel
  std::optional<ImageSummary> image;      // of kImage
  std::optional<SidecarClaim> sidecar;    // of kSidecar; not compared with the files it lists
  std::optional<RunStateContent> state;   // of kRunState
  std::optional<RecordSummary> record;    // of kRecord
  // Why the file cannot be used, although something of it could be told.
  std::optional<Error> problem;
};

// kInvalidInput, kNotFound when nothing of the file can be told, or when size, weights, variant or
// model ask for what this kind of file has not; kUnsupported for a run state or a record of another
// version; kCancelled.
Result<InspectReport> inspect(const InspectRequest& request, const CancelToken* cancel = nullptr);

}  // namespace mezzotint
