// What this machine attains, with what people are told about it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

#include "pipeline/profile_model.h"
#include "profile/calibration_file.h"

namespace mezzotint::cli {

struct CalibrationWords {
  std::filesystem::path cache;                // a folder; empty: the user's
  bool recalibrate = false;                   // measure even if it is known
  bool force = false;                         // accept rates of a busy machine
  std::optional<std::uint64_t> memory_limit;  // of the whole process
};

// From the cache, else measured, which takes seconds; notes go to stderr, too, a line each, as soon
// as they are known. kResource when the machine is too busy and that is not forced.
Result<CachedCalibration> calibrate_machine(const Backend& backend, const Machine& machine,
                                            const CalibrationWords& words,
                                            const CancelToken& cancel);

}  // namespace mezzotint::cli
