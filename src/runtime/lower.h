// The rewrites that every graph goes through before it runs.
#pragma once

#include <vector>

#include "backend/backend.h"
#include "graph/graph.h"
#include "mezzotint/result.h"
#include "passes/passes.h"
#include "runtime/choices.h"
#include "runtime/compile_options.h"

namespace mezzotint {

struct Lowered {
  // As the backend will run it: activations in NDHWC, convolution regions grown, dead ops gone. Its
  // outputs are the original's, then the kept values that are none of these, in their order.
  Graph graph;
  std::vector<Declined> declined;  // by the regions, at costs as in Choice::cost_seconds
  double memory_price = 0;         // at which regions grew and `ops` were chosen
  std::vector<Explanation> ops;    // by OpId
};

// kInvalidInput names an output or a kept name that is no (float32) result of an op. Regions grow
// by Choice::cost_seconds, so that they do not depend on the number of threads; of the plan's
// entries only a convolution's own shapes its region, which takes what Plan::fusions_of() says, or
// else what its implementation can.
//
// The price of memory is the first of memory_prices(), from `least_price` (one of them) on, at
// which the packed weights keep within weight_budget(); the last one if none is.
[[nodiscard]] Result<Lowered> lower(const Graph& graph, const Backend& backend,
                                    const CompileOptions& options, double least_price = 0);

// kInvalidInput names a plan entry that the lowered graph of `graph` does not obey: no op has that
// name, or a convolution could not take what it should.
Status check_plan(const Plan& plan, const Graph& graph, const Lowered& lowered);

}  // namespace mezzotint
