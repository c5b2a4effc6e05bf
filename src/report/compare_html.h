// A comparison as a page to read, in one file; see report/page.h. It holds the comparison's JSON.
#pragma once

#include <string>

#include "report/compare.h"
#include "report/plan_comparison.h"

namespace mezzotint {

[[nodiscard]] std::string comparison_html(const Comparison& comparison);
[[nodiscard]] std::string comparison_html(const PlanComparison& comparison);

}  // namespace mezzotint
