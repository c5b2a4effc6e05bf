#include "pipeline/tune_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "pipeline/error_budget.h"

namespace mezzotint {
namespace {

bool is_within(double distance, double limit) {
  return std::isfinite(distance) && distance <= limit;
}

// std::max() leaves out a NaN.
double larger(double most, double distance) {
  return std::isnan(distance) ? std::numeric_limits<double>::infinity() : std::max(most, distance);
}

// Empty: within both.
std::string excess(const std::string& of, const TuneDistance& found, const TuneDistance& limit) {
  if (!is_within(found.relative_l2, limit.relative_l2)) {
    return fmt::format("{} is off by a relative L2 of {:.2g}, allowed are {:.2g}", of,
                       found.relative_l2, limit.relative_l2);
  }
  if (!is_within(found.largest, limit.largest)) {
    return fmt::format("{} is off by {:.2g} of its largest value in one place, allowed are {:.2g}",
                       of, found.largest, limit.largest);
  }
  return {};
}

}  // namespace

TuneDistance worst(const std::vector<TuneDistance>& distances) {
  TuneDistance most;
  for (const TuneDistance& distance : distances) {
    most.relative_l2 = larger(most.relative_l2, distance.relative_l2);
    most.largest = larger(most.largest, distance.largest);
  }
  return most;
}

Result<TuneCheck> begin_check(TuneTrial& trial, Session& standard, Precision precision,
                              const OnChecking& on_checking) {
  TuneCheck check;
  check.timesteps = trial.timesteps();
  check.chain_steps = trial.steps();
  auto distances = trial.distances(standard);
  if (!distances) {
    return distances.error();
  }
  check.standard = std::move(*distances);
  check.limit = worst({evaluation_budget(precision), worst(check.standard)});
  const auto on_evaluation = [&](int done, int count) {
    return on_checking("running the default plan", done, count);
  };
  const auto chain = trial.chain_distance(standard, on_evaluation);
  if (!chain) {
    return chain.error();
  }
  const auto limit = trial.disturbed_distance(standard, check.limit.relative_l2, on_evaluation);
  if (!limit) {
    return limit.error();
  }
  check.chain_limit = worst({*limit, *chain});
  if (std::isinf(check.limit.largest)) {
    check.chain_limit.largest = std::numeric_limits<double>::infinity();
  }
  return check;
}

Result<std::string> check_errors(TuneTrial& trial, Session& tuned, TuneCheck& check,
                                 const OnChecking& on_checking) {
  check.is_within = false;
  check.chain.reset();
  auto distances = trial.distances(tuned);
  if (!distances) {
    return distances.error();
  }
  check.tuned = std::move(*distances);
  std::string reason = excess("one evaluation", worst(check.tuned), check.limit);
  if (!reason.empty()) {
    return reason;
  }
  const auto chain = trial.chain_distance(
      tuned, [&](int done, int count) { return on_checking("checking a chain", done, count); });
  if (!chain) {
    return chain.error();
  }
  check.chain = *chain;
  reason = excess(fmt::format("a chain of {} steps", check.chain_steps), *chain, check.chain_limit);
  check.is_within = reason.empty();
  return reason;
}

}  // namespace mezzotint
