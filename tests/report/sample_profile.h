// A profile of real shape, made without a model: the UNet of the whole-head model at 128^3 on a
// machine that never was.
#pragma once

#include "profile/profile.h"

namespace mezzotint {

// Some 150 ops of all classes, groups, a trace of two threads, and each kind of absence. The same
// at each call.
[[nodiscard]] Profile sample_profile();

// The same network after a change: convolutions at 128x128x128 in half the time by another
// implementation, the reorder gone and another op new, more packed weights.
[[nodiscard]] Profile faster_profile();

// sample_profile() with texts that would run a script if any of them were taken for markup; the
// script would set the page's title to "harmed".
[[nodiscard]] Profile hostile_profile();

}  // namespace mezzotint
