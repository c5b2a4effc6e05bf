// The published experiments on this model, here: what layout conversions, channels-last
// activations, narrow operands and fewer multiplications do to its time and to its pictures.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "backend/backend.h"
#include "graph/machine.h"
#include "mezzotint/cancel.h"
#include "pipeline/bench_subject.h"
#include "pipeline/profile_model.h"
#include "pipeline/timing.h"
#include "profile/profile.h"

namespace mezzotint {

struct StudyRequest {
  SubjectRequest subject;
  // A label mask: then errors are those of the network on a chain from noise to a volume, and the
  // volumes are compared. Needs a model. Without: one evaluation on noise.
  std::optional<std::filesystem::path> mask;
  int steps = 25;                             // of the chain: dpmpp-2m
  std::optional<std::filesystem::path> plan;  // of mezzotint tune, as one more variant
  int rounds = 3;                             // all variants in turn, so often
  TimingOptions timing{1, 3, 5, 0.5, 4};      // of each variant in each round
  std::optional<std::uint64_t> memory_limit;
  bool force = false;  // accepts any spread within a round
};

// One variant.
struct StudyRow {
  std::string name;
  std::string meaning;
  std::string absent;  // why it was not run; the rest is then empty
  Profile profile;     // of the round whose time is the median
  Spread seconds;      // of an evaluation that nothing listens to, over rounds; of one, over its
                       // evaluations
  // Per evaluation.
  double loops = 0;                // parallel loops that were started
  double tasks = 0;                // pieces of work in them
  double task_seconds = 0;         // mean duration of one
  double conversions = 0;          // ops that only change a layout
  double conversion_share = 0;     // of the time
  std::optional<double> attained;  // attainable by attained time; absent when not calibrated
  double relative_l2 = 0;      // of the prediction, against the truth; the largest that was seen
  std::optional<double> ssim;  // of the finished volume with the truth's
};

struct Study {
  static constexpr std::string_view kTruth =
      "the strict plan, which errs by at most 4 times what PyTorch's float32 does";
  std::string model;
  std::array<std::int64_t, 3> grid{};
  std::string machine;  // "processor, isa, 2 threads"
  int rounds = 0;
  int steps = 0;  // 0: no volume was made
  std::vector<StudyRow> rows;
  std::vector<std::string> findings;  // a sentence each: conversions, fragmentation, narrow, fewer
                                      // multiplications
};

// Told before each measurement: "round 1 of 3: channels-last". May be empty.
using StudyProgress = std::function<void(std::string_view what)>;

// kInvalidInput for a mask without a model and for a plan that does not fit; kResource where memory
// does not suffice or the machine is busy.
Result<Study> study_med_ddpm(const StudyRequest& request, const Backend& backend,
                             const Machine& machine, const Calibrate& calibrate,
                             const StudyProgress& progress, const CancelToken* cancel = nullptr);

// What the rows say of the published effects.
[[nodiscard]] std::vector<std::string> study_findings(const std::vector<StudyRow>& rows);

}  // namespace mezzotint
