// One volume from one mask, with its files: what generate does once and a batch again and again.
#pragma once

#include <chrono>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "imaging/canvas.h"
#include "mezzotint/cancel.h"
#include "mezzotint/generate.h"
#include "pipeline/condition.h"
#include "pipeline/noise_input.h"
#include "pipeline/outputs.h"
#include "pipeline/painter.h"
#include "pipeline/run_state.h"
#include "pipeline/sidecar.h"
#include "pipeline/sidecar_claim.h"

namespace mezzotint {

class VolumeJob {
 public:
  // `painter` was opened with the same settings; mask, out, preview and sample are this volume's.
  // All arguments must outlive the job.
  VolumeJob(Painter& painter, const GenerateRequest& request, GenerateObserver& observer,
            const CancelToken* cancel);

  // Either every file is there afterwards or none.
  Result<GenerateReport> run();
  // Nothing when an earlier run with the same inputs and settings has left its files, whole; they
  // stay as they are.
  Result<std::optional<GenerateReport>> run_unless_there();

 private:
  using Clock = std::chrono::steady_clock;

  [[nodiscard]] std::vector<std::filesystem::path> inputs() const;
  [[nodiscard]] bool exports_brats() const { return request_.export_form == "brats"; }
  [[nodiscard]] std::int64_t written_voxels() const;
  [[nodiscard]] std::uint64_t predict_peak() const;
  [[nodiscard]] GenerateOverview overview() const;

  using Step = Status (VolumeJob::*)();
  Status take(std::initializer_list<Step> steps);
  void drop_stale_state() const;
  Status check_replaces(EarlierRun earlier);
  Status compile();
  Status read_mask();
  Status choose_geometry();
  Status prepare();
  Status paint();
  Status take_state();
  Status write_outputs();
  // What the run ends with: the error, and how to go on where that is possible.
  Error ended(Error error);
  Status write_volume(std::size_t channel);
  Status write_mask();
  Status write_preview();
  Status write_sidecar();

  Painter& painter_;
  const GenerateRequest& request_;
  GenerateObserver& observer_;
  const CancelToken* cancel_;
  Clock::time_point start_;
  std::vector<std::string> modalities_;
  OutputNames names_;
  bool replaces_;
  FitOptions fit_;
  Condition condition_;
  NiftiGeometry geometry_;  // of the files
  std::optional<NoiseFile> noise_;
  std::optional<Outputs> outputs_;
  std::optional<RunState> state_;
  std::vector<float> x_;
  bool painted_ = false;
  std::string identity_;  // run_sha256(), when the mask was read
  RgbImage preview_;
  std::vector<WrittenVolume> written_;
  std::optional<WrittenMask> segmentation_;
  GenerateReport report_;
};

}  // namespace mezzotint
