// What a chosen plan does otherwise than the default, cut into parts that stand by themselves.
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "tune/plan_choice.h"
#include "tune/plan_space.h"

namespace mezzotint {

// Forms that meet, or one way in the place of another.
struct Departure {
  std::string op;   // the first convolution, or the op
  std::string way;  // what it becomes (describe_entry)
  // Empty: `changed` is one way that takes the place of
  // another.
  std::vector<VariableForm> forms;
  // What is computed instead of what; sorted, without what both would hold.
  std::vector<WayId> standard;
  std::vector<WayId> changed;
};

// In the order of the variables, then of names. Of equal ways of equal work there is one.
[[nodiscard]] std::vector<Departure> departures_of(const PlanSpace& space,
                                                   const PlanChoice& standard,
                                                   const PlanChoice& chosen);

// What computes a chosen op.
[[nodiscard]] WayId way_of(const OpTable& table, const ChosenOp& op);

// By the table.
[[nodiscard]] double seconds_of(const OpTable& table, const std::vector<WayId>& ways);

// What is compared with what, the same for equal work.
[[nodiscard]] std::string sides_of(const OpTable& table, const Departure& departure);

}  // namespace mezzotint
