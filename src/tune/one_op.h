// An op apart from its network: what is measured, and what names a measurement.
#pragma once

#include <string>

#include "graph/graph.h"

namespace mezzotint {

// The op of `view` alone, as a graph: its inputs are inputs of the step rate or parameters, and no
// name of the network is left, so that equal work has equal text wherever it stands. The graph's
// one op has the id 0.
[[nodiscard]] Result<Graph> one_op_graph(const OpView& view);

}  // namespace mezzotint
