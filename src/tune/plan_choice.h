// From measured ways to the plan: the exact choice over the whole network.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "graph/plan.h"
#include "mezzotint/result.h"
#include "tune/plan_space.h"

namespace mezzotint {

struct ChosenOp {
  std::size_t op = 0;  // in the table
  std::string implementation;
  double seconds = 0;  // of the table
  double error_growth = 1;
  bool is_measured = false;
};

struct PlanChoice {
  Plan plan;                            // with an entry for each op
  std::map<std::string, ChosenOp> ops;  // of a step
  std::vector<std::size_t> forms;       // one per variable of the space
  double seconds = 0;                   // their sum
  // No combination of the forms costs less, as far as forms interact in pairs; (seconds - bound) /
  // seconds, 0 when this is the optimum.
  double gap = 0;
};

// The default plan, at the table's costs.
[[nodiscard]] PlanChoice default_choice(PlanSpace& space);

// What a plan may not hold.
struct ChoiceLimits {
  // Ops that are as by default: their implementation and, of a convolution, what is fused.
  std::set<std::string> put_back;
  // Forms and ways that were not confirmed, and why. Of an op without any way left
  // the fastest serves.
  std::map<VariableForm, std::string> forms;
  std::map<WayId, std::string> ways;
};

// The cheapest plan within the limits. A plan's cost is that of the default, plus what each form
// changes, plus what each two forms that meet change beyond that; the sum that comes back is of the
// chosen plan as lowered. Where that cannot be computed, the space learns which forms of it cannot
// be had together, and the choice is made again; after 16 times it is the default. Never dearer
// than the default's.
Result<PlanChoice> choose_plan(PlanSpace& space, const ChoiceLimits& limits);

}  // namespace mezzotint
