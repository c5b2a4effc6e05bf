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

Result<std::uint64_t> check_subject_memory(const Session& session, const Subject& subject,
                                           const SessionOptions& options) {
  const std::int64_t floats =
      subject.x().empty() ? 2 * session.elements() + session.condition_elements() : 0;
  const std::uint64_t predicted = resident_bytes() + session.predicted_bytes() +
                                  options.further_bytes +
                                  static_cast<std::uint64_t>(floats) * sizeof(float);
  if (Status status = check_memory(predicted, options.memory_limit, options.machine); !status) {
    return status.error();
  }
  return predicted;
}

Status load_subject(Session& session, Subject& subject, const ThreadTeam& team) {
  if (subject.x().empty()) {
    if (Status status = subject.make_inputs(team); !status) {
      return status;
    }
  }
  return session.load(subject.parameters());
}

}  // namespace mezzotint
