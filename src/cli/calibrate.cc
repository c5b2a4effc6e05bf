#include "cli/calibrate.h"

#include <fmt/format.h>

#include <cmath>
#include <string>

#include "base/error.h"
#include "base/system.h"
#include "base/thread_team.h"
#include "cli/arguments.h"
#include "cli/print.h"
#include "profile/calibration_file.h"

namespace mezzotint::cli {

namespace {

// What the process may still take.
std::uint64_t bytes_below(std::uint64_t limit) {
  const std::uint64_t resident = resident_bytes();
  return limit > resident ? limit - resident : 0;
}

std::string spread_text(const Calibration& calibration) {
  return calibration.spread ? fmt::format("rates spread by {:.0f} %", 100 * *calibration.spread)
                            : "one round";
}

}  // namespace

Result<CachedCalibration> calibrate_machine(const Backend& backend, const Machine& machine,
                                            const CalibrationWords& words,
                                            const CancelToken& cancel) {
  CalibrationRequest request{words.cache, words.recalibrate, {}};
  request.on_note = [](const std::string& note) {
    print_to(stderr, "note: {}\n", on_one_line(note));
  };
  request.on_measure = [] { print_to(stderr, "calibrating this machine, about ten seconds\n"); };
  if (words.memory_limit) {
    request.effort.most_bytes = bytes_below(*words.memory_limit);
  }
  auto cached = cached_calibration(backend, machine, ThreadTeam(machine.threads), request, &cancel);
  if (!cached) {
    return cached.error();
  }
  const Calibration& calibration = cached->calibration;
  if (cached->measured) {
    print_to(stderr, "calibrated this machine in {:.0f} s, {}\n", calibration.took_seconds,
             spread_text(calibration));
  }
  const double spread = calibration.spread.value_or(INFINITY);
  if (spread > kMostCalibrationSpread && !words.force) {
    return resource_error("machine is busy: calibration has {}, at most {:.0f} %; wait, or --force",
                          spread_text(calibration), 100 * kMostCalibrationSpread);
  }
  return cached;
}

}  // namespace mezzotint::cli
