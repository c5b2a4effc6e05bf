// Where the time of one evaluation of a network goes on this machine.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "backend/backend.h"
#include "graph/machine.h"
#include "graph/plan.h"
#include "mezzotint/cancel.h"
#include "pipeline/bench_subject.h"
#include "pipeline/timing.h"
#include "profile/profile.h"

namespace mezzotint {

// Quartiles of evaluations further apart than this, relative to their median: measure again.
inline constexpr double kRepeatSpread = 0.10;
// Still further apart after that: the machine is too busy to say anything.
inline constexpr double kMostSpread = 0.25;

struct ProfileOptions {
  Plan plan;
  // Of evaluations that are listened to; as many that are not take turns with them.
  TimingOptions timing{1, 5, 15, 1, 8};
  std::optional<std::uint64_t> memory_limit;
  bool force = false;  // accepts any spread
  // That name the model and its size on a command line, for the commands in the advice.
  std::string words;
};

// x and condition are the subject's, the condition is set once, outside what is timed. kResource
// before the work when memory does not suffice, and after it when the evaluations of a busy machine
// spread by more than kMostSpread.
Result<Profile> profile_model(Subject& subject, const Backend& backend, const Machine& machine,
                              const Calibration& calibration, const ProfileOptions& options,
                              const CancelToken* cancel = nullptr);

}  // namespace mezzotint
