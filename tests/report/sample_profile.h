// A profile of real shape, made without a model: the UNet of the whole-head model at 128^3 on a
// machine that never was.
#pragma once

#include "profile/profile.h"

namespace mezzotint {

// Some 150 ops of all classes, groups, a trace of two threads, and each kind of absence. The same
// at each call.
[[nodiscard]] Profile sample_profile();

}  // namespace mezzotint
