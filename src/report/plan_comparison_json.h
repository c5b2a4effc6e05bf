// A comparison of plans as JSON of schema Comparison::kSchema; docs/formats.md gives its keys.
#pragma once

#include <string>

#include "report/plan_comparison.h"

namespace mezzotint {

[[nodiscard]] std::string comparison_json(const PlanComparison& comparison);

}  // namespace mezzotint
