// What compile would decide, and why.
#pragma once

#include <string>
#include <vector>

#include "backend/backend.h"
#include "graph/graph.h"
#include "mezzotint/result.h"
#include "passes/passes.h"
#include "runtime/choices.h"
#include "runtime/compile_options.h"

namespace mezzotint {

// A pass over an activation's memory at each step, which no convolution does on its way.
struct Unfused {
  std::string op;
  OpKind kind = OpKind::add;
  std::vector<Declined> declined;  // by the convolutions beside it; empty: there is none
};

struct ProgramExplanation {
  std::vector<Explanation> ops;  // of the lowered graph, in its order
  std::vector<Unfused> unfused;
};

// Errors are those of lower() and check_plan().
[[nodiscard]] Result<ProgramExplanation> explain(const Graph& graph, const Backend& backend,
                                                 const CompileOptions& options);

}  // namespace mezzotint
