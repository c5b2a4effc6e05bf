// What was decided and what lost, in words and numbers.
#pragma once

#include <string>
#include <vector>

#include "graph/plan.h"
#include "tune/plan_choice.h"
#include "tune/plan_space.h"
#include "tune/report.h"

namespace mezzotint {

// "kernels.conv_winograd2, fuses normalise, residual, channels-first".
[[nodiscard]] std::string describe_entry(const PlanEntry& entry);

// What differs between two plans, the largest gain first. A convolution's gain holds those of ops
// around it that come, go or change with its form.
[[nodiscard]] std::vector<TuneDecision> decisions_of(const PlanSpace& space,
                                                     const PlanChoice& standard,
                                                     const PlanChoice& chosen);

// For the `most_ops` chosen ops that take longest: every other way and form, the nearest first,
// those refused last.
[[nodiscard]] std::vector<TuneLoss> losses_of(const PlanSpace& space, const PlanChoice& chosen,
                                              const ChoiceLimits& limits, std::size_t most_ops);

// "a (fuses concat), b (fuses nothing, channels-first)": forms that a space found impossible
// together, one text each.
[[nodiscard]] std::vector<std::string> describe_impossible(const PlanSpace& space);

}  // namespace mezzotint
