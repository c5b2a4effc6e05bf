// The published experiments on this model, here: what layout conversions, channels-last
// activations, narrow operands and fewer multiplications do to its time and to its pictures.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string_view>

#include "backend/backend.h"
#include "graph/machine.h"
#include "mezzotint/cancel.h"
#include "pipeline/bench_subject.h"
#include "pipeline/profile_model.h"
#include "pipeline/timing.h"
#include "report/study.h"

namespace mezzotint {

struct StudyRequest {
  SubjectRequest subject;
  // A label mask: then errors are those of the network on a chain from noise to a volume, and the
  // volumes are compared. Needs a model. Without: one evaluation on noise.
  std::optional<std::filesystem::path> mask;
  int steps = 25;                             // of the chain: dpmpp-2m
  std::optional<std::filesystem::path> plan;  // of mezzotint tune, as one more variant; else
  bool tune = true;                           // tune_model() makes one, as long as that takes
  std::filesystem::path cache;                // a folder for tune's timings; empty: cache_folder()
  int rounds = 3;                             // all variants in turn, so often
  TimingOptions timing{1, 3, 5, 0.5, 4};      // of each variant in each round
  std::optional<std::uint64_t> memory_limit;
  bool force = false;  // accepts a busy machine, as ProfileOptions and TuneRequest do
  std::optional<std::filesystem::path> out;  // a folder: StudyFiles
  bool overwrite = false;
};

// Told before each measurement: "round 1 of 3: channels-last". May be empty.
using StudyProgress = std::function<void(std::string_view what)>;

// kInvalidInput for a mask without a model and for a plan that does not fit; kResource where memory
// does not suffice or the machine is busy. Where only tuning lacks memory or quiet, its variant is
// absent and says so. Whether `out` can be is known before the work.
Result<Study> study_med_ddpm(const StudyRequest& request, const Backend& backend,
                             const Machine& machine, const Calibrate& calibrate,
                             const StudyProgress& progress, const CancelToken* cancel = nullptr);

}  // namespace mezzotint
