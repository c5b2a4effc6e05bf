// From a graph to a program: rewrite, split by rate, choose implementations, plan memory, prepare
// kernels.
#pragma once

#include "backend/backend.h"
#include "graph/graph.h"
#include "mezzotint/result.h"
#include "runtime/compile_options.h"
#include "runtime/program.h"

namespace mezzotint {

// kUnsupported names an op that no implementation can compute, with each one's reason;
// kInvalidInput an output or a kept name that is no (float32) result of an op, or a plan entry
// that no op of the lowered graph answers to.
[[nodiscard]] Result<Program> compile(const Graph& graph, const Backend& backend,
                                      const CompileOptions& options);

}  // namespace mezzotint
