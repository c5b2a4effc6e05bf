// Two plans against each other, evaluation by evaluation.
#pragma once

#include <vector>

#include "pipeline/tune_trial.h"
#include "tune/report.h"

namespace mezzotint {

inline constexpr int kLeastRacePairs = 9;

// Pairs of evaluations, the one that begins alternating, so that a machine that slows down slows
// both. At least kLeastRacePairs; up to 40 or 60 seconds; kCancelled when it is stopped before
// there are so many.
Result<TuneRace> race_plans(TuneTrial& trial, Session& standard, Session& tuned,
                            const TuneTrial::OnEvaluation& on_evaluation);

struct Interval {
  double low = 0;
  double high = 0;
};

// Where the median of what the samples were drawn from lies, with at least this confidence: between
// two of the samples, as many from either end as coin tosses allow (the sign test's interval), so
// no distribution is assumed. The whole line where there are too few samples for that.
[[nodiscard]] Interval median_interval(std::vector<double> samples, double confidence);

// The median gain is less than 1 %, or that it is above 0 is not certain enough.
[[nodiscard]] bool is_tie(const TuneRace& race);

}  // namespace mezzotint
