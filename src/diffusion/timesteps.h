// Which timesteps of the schedule a sampler visits.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "diffusion/schedule.h"
#include "mezzotint/result.h"

namespace mezzotint {

enum class Spacing : std::uint8_t {
  kTimestep,  // "t": even in t, round_half_even(i (T-1) / (steps-1))
  kLogSnr,    // "logsnr": even in lambda, the nearest timestep each
};

[[nodiscard]] std::string_view name_of(Spacing spacing);
// kInvalidInput names the known spacings.
Result<Spacing> spacing_from_name(std::string_view name);

// Descending, first T-1, last 0 (one step: only T-1). Duplicates are dropped, so kLogSnr may give
// fewer than `steps`. kInvalidInput when `steps` is below 1 or above T.
Result<std::vector<int>> choose_timesteps(const Schedule& schedule, int steps, Spacing spacing);

}  // namespace mezzotint
