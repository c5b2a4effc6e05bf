// In which layout each op computes.
#pragma once

#include <optional>

#include "backend/backend.h"
#include "graph/graph.h"
#include "mezzotint/result.h"
#include "runtime/compile_options.h"

namespace mezzotint {

// Each op's activations in the layout that the plan gives it. An op that is to compute in row-major
// order, which none of its implementations can, computes channels-last between reorders.
[[nodiscard]] Result<Graph> lay_out(const Graph& graph, const Backend& backend,
                                    const CompileOptions& options);

// Of the activations that an op reads and makes, of a region's convolution. Nothing for ops without
// any and for reorders.
[[nodiscard]] std::optional<Layout> activation_layout(const OpView& view);

}  // namespace mezzotint
