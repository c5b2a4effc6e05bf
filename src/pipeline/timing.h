// Wall time of something that is run again and again.
#pragma once

#include <functional>
#include <vector>

#include "mezzotint/result.h"

namespace mezzotint {

struct Timing {
  double median_seconds = 0;
  // (90th - 10th percentile) / median, by nearest rank; below 10 runs that is (max - min) / median.
  double spread = 0;
  int runs = 0;
};

struct TimingOptions {
  int warmups = 1;
  int least_runs = 3;
  // Stops after `least_seconds` and `good_runs`, or, when a run takes long, after `most_seconds`.
  int good_runs = 10;
  double least_seconds = 0.5;
  double most_seconds = 3;
};

[[nodiscard]] Timing summarise(std::vector<double> seconds);

// The first error of `run` ends the measurement and is returned. `run` is told whether it counts:
// warm-ups do not.
Result<Timing> measure(const TimingOptions& options, const std::function<Status(bool counts)>& run);

}  // namespace mezzotint
