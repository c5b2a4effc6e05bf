#include "pipeline/timing.h"

#include <algorithm>
#include <chrono>
#include <cmath>

#include "base/check.h"

namespace mezzotint {
namespace {

double percentile(const std::vector<double>& sorted, double fraction) {
  const auto rank = static_cast<std::size_t>(std::ceil(fraction * sorted.size()));
  return sorted[std::max<std::size_t>(rank, 1) - 1];
}

double median(const std::vector<double>& sorted) {
  const std::size_t middle = sorted.size() / 2;
  return sorted.size() % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

}  // namespace

Timing summarise(std::vector<double> seconds) {
  check(!seconds.empty(), "nothing was measured");
  std::sort(seconds.begin(), seconds.end());
  const double middle = median(seconds);
  const double range = percentile(seconds, 0.9) - percentile(seconds, 0.1);
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
