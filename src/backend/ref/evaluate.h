// A whole graph in double: the truth that tests compare with.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/thread_team.h"
#include "graph/graph.h"
#include "mezzotint/result.h"

namespace mezzotint::ref {

struct RefTensor {
  Shape shape;
  std::vector<double> data;  // row-major, whatever the value's layout
};

using Bindings = std::map<std::string, RefTensor, std::less<>>;

// Every value of the graph, by ValueId. Nothing is rounded to the values' dtypes.
// kInvalidInput when an input or parameter is not bound, or is bound with another shape.
Result<std::vector<RefTensor>> evaluate(const Graph& graph, const Bindings& bindings,
                                        const ThreadTeam& team);

}  // namespace mezzotint::ref
