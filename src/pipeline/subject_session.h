// The network of a benchmark, compiled and loaded.
#pragma once

#include <cstdint>

#include "base/thread_team.h"
#include "pipeline/bench_subject.h"
#include "pipeline/session.h"

namespace mezzotint {

// For one evaluation of the subject, at its timestep.
[[nodiscard]] SessionOptions session_options(const Subject& subject, const Machine& machine,
                                             const Plan& plan);

// The memory that the whole process will have taken once the session is loaded and evaluated, its
// inputs, prediction and the options' further bytes included. kResource where that exceeds the
// options' limit or the machine.
Result<std::uint64_t> check_subject_memory(const Session& session, const Subject& subject,
                                           const SessionOptions& options);

// Makes the subject's inputs, unless it has them, and loads the session's weights.
Status load_subject(Session& session, Subject& subject, const ThreadTeam& team);

}  // namespace mezzotint
