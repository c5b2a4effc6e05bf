// A study: variants of one network, measured and compared. Plain data, made by the pipeline.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "profile/profile.h"

namespace mezzotint {

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
  double kernels = 0;              // that were started: OpProfile::kernels
  double kernel_seconds = 0;       // mean duration of one
  double conversions = 0;          // ops that only change a layout
  double conversion_share = 0;     // of the time
  double convolution_share = 0;    // of the time: convolutions with what is fused into them
  std::optional<double> attained;  // attainable by attained time; absent when not calibrated
  // Of the prediction, against the truth; the largest that was seen. Infinite for one that is not
  // finite.
  double relative_l2 = 0;
  std::optional<double> ssim;  // of the finished volume with the truth's, where there is a mask
};

struct Study {
  static constexpr std::string_view kKind = "mezzotint study";
  static constexpr int kSchema = 1;
  static constexpr std::string_view kTruth =
      "the strict plan, which errs by at most 4 times what PyTorch's float32 does";
  std::string version;  // of mezzotint
  std::string model;
  std::array<std::int64_t, 3> grid{};
  std::string machine;  // "processor, isa, 2 threads"
  int rounds = 0;
  int steps = 0;  // 0: no volume was made
  std::vector<StudyRow> rows;
  std::vector<std::string> findings;  // a sentence each: conversions, fragmentation, narrow, fewer
                                      // multiplications
  std::vector<std::filesystem::path> files;  // that it left
  std::string tuned_plan;  // the plan's file as text, where the study itself tuned; else empty
};

// What the rows say of the published effects.
[[nodiscard]] std::vector<std::string> study_findings(const std::vector<StudyRow>& rows);

}  // namespace mezzotint
