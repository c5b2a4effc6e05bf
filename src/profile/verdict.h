// What a profile means, in sentences, and what its numbers say would help. docs/profile.md says
// how each prediction is made.
#pragma once

#include <string>

#include "profile/profile.h"

namespace mezzotint {

// What the advice needs besides the profile.
struct VerdictContext {
  // The words that name the model and the run: "--model models/demo-brain32 --size 64"; precision
  // and threads come from the profile.
  std::string words;
  int available_threads = 1;
  // Why the times are not those of this network alone; empty on a quiet machine.
  std::string caveat;
};

// Advice that is predicted to save less than this share of the time is left out.
inline constexpr double kLeastSaving = 0.01;
// An op below this share of the roofline could do better.
inline constexpr double kGoodAttained = 0.5;

// Reads everything but the verdict and the warnings.
[[nodiscard]] Verdict verdict_of(const Profile& profile, const VerdictContext& context);

}  // namespace mezzotint
