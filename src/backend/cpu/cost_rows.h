// The cost table of the CPU backend.
#pragma once

#include <span>

#include "graph/cost_table.h"

namespace mezzotint {

[[nodiscard]] std::span<const CostRow> cpu_cost_rows();

}  // namespace mezzotint
