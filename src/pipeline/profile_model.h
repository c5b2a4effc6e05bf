// Where the time of one evaluation of a network goes on this machine.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "backend/backend.h"
#include "graph/machine.h"
#include "graph/plan.h"
#include "mezzotint/cancel.h"
#include "pipeline/bench_subject.h"
#include "pipeline/timing.h"
#include "profile/calibration_file.h"
#include "profile/profile.h"

namespace mezzotint {

// Quartiles of evaluations further apart than this, relative to their median: measure again.
inline constexpr double kRepeatSpread = 0.10;
// Still further apart after that: the machine is too busy to say anything.
inline constexpr double kMostSpread = 0.25;
// What other work leaves of the processors that the threads want (share_left): below this it
// disturbs every evaluation, however evenly. Measure again.
inline constexpr double kRepeatProcessorShare = 0.90;
// Still below this after that: times would be mostly those of the other work.
inline constexpr double kLeastProcessorShare = 0.70;

struct ProfileOptions {
  Plan plan;
  std::string plan_name;  // of its file; empty: the default plan
  // Of evaluations that are listened to; as many that are not take turns with them.
  TimingOptions timing{1, 5, 15, 1, 8};
  std::optional<std::uint64_t> memory_limit;
  bool force = false;  // accepts any spread and any share of the processors
  // That name the model and its size on a command line, for the commands in the advice.
  std::string words;
  // Told the memory that the whole process will have taken, once that is known to be there and
  // before any of it is; may be empty.
  std::function<void(std::uint64_t predicted_bytes)> announce;
};

// What the machine attains, from wherever it is known, and what is to be said of that.
using Calibrate = std::function<Result<CachedCalibration>()>;

// x and condition are the subject's, the condition is set once, outside what is timed. `calibrate`
// is asked once the network is known to fit, before it is loaded; its error is returned, and its
// notes are the first of the profile's warnings. kResource before the work when memory does not
// suffice, and after it when the evaluations of a busy machine spread by more than kMostSpread or
// get less of the processors than kLeastProcessorShare.
Result<Profile> profile_model(Subject& subject, const Backend& backend, const Machine& machine,
                              const Calibrate& calibrate, const ProfileOptions& options,
                              const CancelToken* cancel = nullptr);

}  // namespace mezzotint
