// How a comparison looks on a terminal.
#pragma once

#include "report/compare.h"
#include "report/plan_comparison.h"

namespace mezzotint::cli {

// All within kColumns: what is compared; then for each against the first its sentences, what else
// differs, and tables.
void print_comparison(const Comparison& comparison);
void print_comparison(const PlanComparison& comparison);

}  // namespace mezzotint::cli
