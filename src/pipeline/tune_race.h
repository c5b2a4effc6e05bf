// Two plans against each other, evaluation by evaluation.
#pragma once

#include "pipeline/tune_trial.h"
#include "tune/report.h"

namespace mezzotint {

// Pairs of evaluations, the one that begins alternating, so that a machine that slows down slows
// both. At least 5 pairs; up to 25 or 20 seconds; kCancelled when
// it is stopped before there are 5.
Result<TuneRace> race_plans(TuneTrial& trial, Session& standard, Session& tuned,
                            const TuneTrial::OnEvaluation& on_evaluation);

// Less than 1 % between the medians, or the tuned plan is not faster in three pairs of four.
[[nodiscard]] bool is_tie(const TuneRace& race);

}  // namespace mezzotint
