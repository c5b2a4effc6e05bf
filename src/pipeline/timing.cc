#include "pipeline/timing.h"

#include <algorithm>
#include <chrono>

#include "base/check.h"
#include "base/quantile.h"

namespace mezzotint {
Timing summarise(std::vector<double> seconds) {
  check(!seconds.empty(), "nothing was measured");
  std::sort(seconds.begin(), seconds.end());
  const double middle = quantile(seconds, 0.5);
  const double range = nearest_rank(seconds, 0.9) - nearest_rank(seconds, 0.1);
  return {middle, middle > 0 ? range / middle : 0, static_cast<int>(seconds.size())};
}

Result<Timing> measure(const TimingOptions& options,
                       const std::function<Status(bool counts)>& run) {
  using Clock = std::chrono::steady_clock;
  for (int i = 0; i < options.warmups; ++i) {
    if (Status status = run(/*counts=*/false); !status) {
      return status.error();
    }
  }
  std::vector<double> seconds;
  double total = 0;
  const auto enough = [&] {
    const auto runs = static_cast<int>(seconds.size());
    return runs >= options.least_runs &&
           (total >= options.most_seconds ||
            (runs >= options.good_runs && total >= options.least_seconds));
  };
  while (!enough()) {
    const auto start = Clock::now();
    if (Status status = run(/*counts=*/true); !status) {
      return status.error();
    }
    seconds.push_back(std::chrono::duration<double>(Clock::now() - start).count());
    total += seconds.back();
  }
  return summarise(std::move(seconds));
}

}  // namespace mezzotint
