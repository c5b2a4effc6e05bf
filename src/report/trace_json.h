// The last timed run of a profile as trace events, for Perfetto (ui.perfetto.dev) and
// chrome://tracing.
#pragma once

#include <string>

#include "profile/profile.h"

namespace mezzotint {

// The JSON Object Format of Google's "Trace Event Format". One process; the thread "ops" holds one
// slice per op, from its first task's begin to its last one's end, and a thread per worker holds
// its tasks. The counter "memory in use" steps at each op's begin to the arena's live bytes plus
// the packed weights. Times are microseconds since the run began, of whole nanoseconds, so that
// slices nest exactly. An op without a task in Profile::trace has no slice.
[[nodiscard]] std::string trace_json(const Profile& profile);

}  // namespace mezzotint
