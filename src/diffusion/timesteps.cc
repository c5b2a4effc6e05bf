#include "diffusion/timesteps.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "base/quote.h"

namespace mezzotint {
namespace {

// round(numerator / denominator), ties to even, in integers: no rounding of the quotient can tip
// it.
int divide_half_even(std::int64_t numerator, std::int64_t denominator) {
  const std::int64_t quotient = numerator / denominator;
  const std::int64_t twice_rest = 2 * (numerator % denominator);
  const bool up = twice_rest > denominator || (twice_rest == denominator && quotient % 2 == 1);
  return static_cast<int>(quotient + (up ? 1 : 0));
}

// The timestep whose half_log_snr is nearest to `target`; of two equally near ones the lower.
// lambda falls as t rises.
int nearest_timestep(const Schedule& schedule, double target) {
  int low = 0;
  int high = schedule.timesteps() - 1;
  while (high - low > 1) {
    const int middle = low + (high - low) / 2;
    (schedule.half_log_snr(middle) >= target ? low : high) = middle;
  }
  const double above = schedule.half_log_snr(low) - target;
  const double below = target - schedule.half_log_snr(high);
  return above <= below ? low : high;
}

}  // namespace

std::string_view name_of(Spacing spacing) {
  return spacing == Spacing::kTimestep ? "t" : "logsnr";
}

Result<Spacing> spacing_from_name(std::string_view name) {
  for (const Spacing spacing : {Spacing::kTimestep, Spacing::kLogSnr}) {
    if (name_of(spacing) == name) {
      return spacing;
    }
  }
  return invalid_input("spacing {}: unknown; expected t or logsnr", in_quotes(name));
}

Result<std::vector<int>> choose_timesteps(const Schedule& schedule, int steps, Spacing spacing) {
  const int last = schedule.timesteps() - 1;
  if (steps < 1 || steps > schedule.timesteps()) {
    return invalid_input("{} steps: expected 1 to {}, the length of the model's schedule", steps,
                         schedule.timesteps());
  }
  if (steps == 1) {
    return std::vector<int>{last};
  }
  const double noisiest = schedule.half_log_snr(last);
  const double cleanest = schedule.half_log_snr(0);
  std::vector<int> timesteps;
  timesteps.reserve(steps);
  for (int i = steps - 1; i >= 0; --i) {
    const double fraction = static_cast<double>(i) / (steps - 1);
    timesteps.push_back(
        spacing == Spacing::kTimestep
            ? divide_half_even(static_cast<std::int64_t>(i) * last, steps - 1)
            : nearest_timestep(schedule, cleanest + fraction * (noisiest - cleanest)));
  }
  timesteps.erase(std::unique(timesteps.begin(), timesteps.end()), timesteps.end());
  return timesteps;
}

}  // namespace mezzotint
