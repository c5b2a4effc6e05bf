#include "pipeline/subject_session.h"

#include "base/system.h"
#include "pipeline/machine.h"

namespace mezzotint {

SessionOptions session_options(const Subject& subject, const Machine& machine, const Plan& plan) {
  SessionOptions options;
  options.machine = machine;
  options.plan = plan;
  options.grid = subject.grid();
  options.timesteps = {subject.timestep()};
  return options;
}

Result<std::uint64_t> load_subject(Session& session, Subject& subject,
                                   const SessionOptions& options, const ThreadTeam& team) {
  const std::int64_t floats = 2 * session.elements() + session.condition_elements();
  const bool first = subject.x().empty();
  const std::uint64_t predicted = resident_bytes() + session.predicted_bytes() +
                                  (first ? static_cast<std::uint64_t>(floats) * sizeof(float) : 0);
  if (Status status = check_memory(predicted, options.memory_limit, options.machine); !status) {
    return status.error();
  }
  if (first) {
    if (Status status = subject.make_inputs(team); !status) {
      return status.error();
    }
  }
  if (Status status = session.load(subject.parameters()); !status) {
    return status.error();
  }
  return predicted;
}

}  // namespace mezzotint
