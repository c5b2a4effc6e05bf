#include "cli/calibrate.h"

#include "base/thread_team.h"
#include "cli/arguments.h"
#include "cli/columns.h"
#include "cli/print.h"
#include "profile/calibration_file.h"

namespace mezzotint::cli {

Result<Calibration> calibrate_machine(const Backend& backend, const Machine& machine,
                                      const std::filesystem::path& cache,
                                      const CancelToken& cancel) {
  auto cached = cached_calibration(backend, machine, ThreadTeam(machine.threads),
                                   {cache, false, {}}, &cancel);
  if (!cached) {
    return cached.error();
  }
  for (const std::string& note : cached->notes) {
    print_to(stderr, "{}", wrap(on_one_line(note), 0));
  }
  if (cached->measured) {
    print_to(stderr, "calibrated this machine in {:.0f} s\n", cached->calibration.took_seconds);
  }
  return std::move(cached->calibration);
}

}  // namespace mezzotint::cli
