#include "pipeline/tune_race.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/error.h"

namespace mezzotint {
namespace {

constexpr int kLeastPairs = 5;
constexpr int kMostPairs = 25;
constexpr double kEnoughSeconds = 20;
constexpr double kLeastGain = 0.01;

// The value that a part of them does not exceed, by nearest rank.
double quantile(std::vector<double> values, double part) {
  std::ranges::sort(values);
  return values[static_cast<std::size_t>(
      std::lround(part * static_cast<double>(values.size() - 1)))];
}

}  // namespace

Result<TuneRace> race_plans(TuneTrial& trial, Session& standard, Session& tuned,
                            const TuneTrial::OnEvaluation& on_evaluation) {
  std::vector<double> standard_seconds;
  std::vector<double> tuned_seconds;
  std::vector<double> gains;
  double total = 0;
  for (int pair = 0; pair < kMostPairs && (pair < kLeastPairs || total < kEnoughSeconds); ++pair) {
    if (!on_evaluation(pair, kMostPairs)) {
      if (pair >= kLeastPairs) {
        break;
      }
      return Error{ErrorCode::kCancelled, "stopped on request"};
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
  return TuneRace{quantile(standard_seconds, 0.5), quantile(tuned_seconds, 0.5),
                  quantile(gains, 0.25), quantile(gains, 0.75), static_cast<int>(gains.size())};
}

bool is_tie(const TuneRace& race) {
  return race.tuned_seconds > (1 - kLeastGain) * race.default_seconds || race.low_gain <= 0;
}

}  // namespace mezzotint
