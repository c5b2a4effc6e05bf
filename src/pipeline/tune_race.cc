#include "pipeline/tune_race.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <utility>
#include <vector>

#include "base/cancel.h"
#include "profile/profile.h"

namespace mezzotint {
namespace {

constexpr int kMostPairs = 40;
constexpr double kEnoughSeconds = 60;
constexpr double kLeastGain = 0.01;

}  // namespace

Result<TuneRace> race_plans(TuneTrial& trial, Session& standard, Session& tuned,
                            const TuneTrial::OnEvaluation& on_evaluation) {
  std::vector<double> standard_seconds;
  std::vector<double> tuned_seconds;
  std::vector<double> gains;
  double total = 0;
  for (int pair = 0; pair < kMostPairs && (pair < kLeastRacePairs || total < kEnoughSeconds);
       ++pair) {
    if (!on_evaluation(pair, kMostPairs)) {
      if (pair >= kLeastRacePairs) {
        break;
      }
      return stopped();
    }
    double seconds[2] = {};  // standard, tuned
    for (const int turn : {0, 1}) {
      const int which = (turn + pair) % 2;
      const auto measured = trial.time(which == 0 ? standard : tuned);
      if (!measured) {
        return measured.error();
      }
      seconds[which] = *measured;
    }
    standard_seconds.push_back(seconds[0]);
    tuned_seconds.push_back(seconds[1]);
    gains.push_back(1 - seconds[1] / seconds[0]);
    total += seconds[0] + seconds[1];
  }
  const int pairs = static_cast<int>(gains.size());
  const double gain = spread_of(gains).median;
  const Interval interval = median_interval(std::move(gains), kRaceConfidence);
  return TuneRace{spread_of(standard_seconds).median,
                  spread_of(tuned_seconds).median,
                  gain,
                  interval.low,
                  interval.high,
                  pairs};
}

Interval median_interval(std::vector<double> samples, double confidence) {
  std::ranges::sort(samples);
  const std::size_t count = samples.size();
  // That `outside` or fewer of them lie below the median.
  double likelihood = std::pow(0.5, count);
  double tail = likelihood;
  std::size_t outside = 0;
  while (outside < count && 2 * tail <= 1 - confidence) {
    likelihood *= static_cast<double>(count - outside) / static_cast<double>(outside + 1);
    ++outside;
    tail += likelihood;
  }
  if (outside == 0) {
    return {-std::numeric_limits<double>::infinity(), std::numeric_limits<double>::infinity()};
  }
  return {samples[outside - 1], samples[count - outside]};
}

bool is_tie(const TuneRace& race) {
  return race.gain < kLeastGain || race.low_gain <= 0;
}

}  // namespace mezzotint
