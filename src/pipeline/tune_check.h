// A plan against the error budget of its precision, on a trial's chain.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "graph/plan.h"
#include "pipeline/tune_trial.h"
#include "tune/report.h"

namespace mezzotint {

// The largest of each; NaN counts as infinite.
[[nodiscard]] TuneDistance worst(const std::vector<TuneDistance>& distances);

// Told before each evaluation of a chain; false stops: kCancelled.
using OnChecking = std::function<bool(const char* stage, int done, int count)>;

// After the trial's reference: how far the default plan is from it, and the limits. Those of an
// evaluation are evaluation_budget(), those of a chain what an evaluation's relative L2 leads to;
// or either the default plan's own distance where that is larger, since that is what a user gets
// without a plan. The largest error is bounded after a chain where it is in an evaluation.
Result<TuneCheck> begin_check(TuneTrial& trial, Session& standard, Precision precision,
                              const OnChecking& on_checking);

// Fills in what concerns the tuned plan. Which part of the budget it exceeds, in words; empty:
// none. What is not finite exceeds every limit.
Result<std::string> check_errors(TuneTrial& trial, Session& tuned, TuneCheck& check,
                                 const OnChecking& on_checking);

}  // namespace mezzotint
