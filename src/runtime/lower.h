// The rewrites that every graph goes through before it runs.
#pragma once

#include "backend/backend.h"
#include "graph/graph.h"
#include "mezzotint/result.h"
#include "runtime/compile_options.h"

namespace mezzotint {

// The graph as the backend will run it: activations in NDHWC, convolution regions grown, dead ops
// gone. Its outputs are the graph's, then the kept values that are none of these, in their order.
// kInvalidInput names an output or a kept name that is no (float32) result of an op.
[[nodiscard]] Result<Graph> lower(const Graph& graph, const Backend& backend,
                                  const CompileOptions& options);

// kInvalidInput names a plan entry that no op of the lowered graph answers to: it would be ignored.
Status check_plan(const Plan& plan, const Graph& graph, const Graph& lowered);

}  // namespace mezzotint
