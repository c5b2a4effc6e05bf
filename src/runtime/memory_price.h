// What a plan pays for the weights that it holds, so that the deep layers, which hold most weights
// and do the least work, do not hold eight times as many for next to nothing.
#pragma once

#include <span>

#include "graph/graph.h"

namespace mezzotint {

// Seconds of one thread, in each run of the program, that a byte of packed weights has to save.
// Ascending from nothing; lower() takes the first at which the weights keep within their budget.
[[nodiscard]] std::span<const double> memory_prices();

// Bytes of packed weights that a plan may hold when it need not: a quarter of the largest
// activation of the graph before regions grow, and at least 350 MB. Neither anything measured nor
// the number of threads has a part in it.
[[nodiscard]] double weight_budget(const Graph& graph);

}  // namespace mezzotint
