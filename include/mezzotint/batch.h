// Many volumes in one run: a folder of masks, or several samples of a mask, or both.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "mezzotint/cancel.h"
#include "mezzotint/generate.h"
#include "mezzotint/result.h"

namespace mezzotint {

struct BatchRequest {
  // What all volumes share. `mask` is a folder, whose files .nii, .nii.gz and .hdr are taken in the
  // order of their names, or one mask. `out` is a folder, made when it is absent; `preview` too,
  // where pictures are wanted. `sample` is the first sample.
  GenerateRequest settings;
  std::optional<int> samples;  // of each mask; default: 1
};

// Whether it asks for several volumes: samples are stated or the mask is a folder.
[[nodiscard]] bool is_batch(const BatchRequest& request);

// "<mask>.nii.gz" in the folder; "<mask>_sample3.nii.gz" when `samples` is stated or `sample` is
// not 0.
struct BatchVolume {
  int index = 0;  // from 0
  int count = 0;
  std::filesystem::path mask;
  std::filesystem::path out;
  std::uint32_t sample = 0;
};

enum class BatchOutcome : std::uint8_t {
  kMade,
  kThere,   // an earlier run with the same inputs and settings made it; its files are whole
  kFailed,  // and the batch went on
};

struct BatchResult {
  BatchVolume volume;
  BatchOutcome outcome = BatchOutcome::kFailed;
  GenerateReport report;    // unless it failed
  Error error;              // of a failure
  std::string note;         // what is not as one might expect, or empty
  double left_seconds = 0;  // estimate for the volumes after it
};

struct BatchReport {
  int made = 0;
  int there = 0;
  std::vector<BatchResult> failures;
  double total_seconds = 0;
};

// Receives the events of each volume too, between on_volume() and on_result().
class BatchObserver : public GenerateObserver {
 public:
  virtual void on_volume(const BatchVolume& /*volume*/) {}
  virtual void on_result(const BatchResult& /*result*/) {}
};

// The model is read once. A volume that fails is in the report and leaves no file; the others are
// made all the same. An Error is what stops everything: the model, the settings, no mask, two masks
// that would give one name, a mask that a volume would replace, a folder that cannot be made, or
// kCancelled.
Result<BatchReport> generate_batch(const BatchRequest& request, BatchObserver* observer = nullptr,
                                   const CancelToken* cancel = nullptr);

}  // namespace mezzotint
