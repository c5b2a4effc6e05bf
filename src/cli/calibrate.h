// What this machine attains, with what people are told about it.
#pragma once

#include <filesystem>

#include "pipeline/profile_model.h"

namespace mezzotint::cli {

// From the cache (an empty path: the user's), else measured, which takes seconds; notes go to
// stderr.
Result<Calibration> calibrate_machine(const Backend& backend, const Machine& machine,
                                      const std::filesystem::path& cache,
                                      const CancelToken& cancel);

}  // namespace mezzotint::cli
