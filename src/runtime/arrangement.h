// A lowered graph arranged for little memory: in which order its ops run, which of them run twice,
// and where in one arena each result lives.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "graph/graph.h"
#include "mezzotint/result.h"
#include "runtime/run_order.h"

namespace mezzotint {

struct Arrangement {
  Graph graph;               // the lowered one, with repeated ops
  std::vector<OpId> origin;  // by OpId: the op of the lowered graph that it is or repeats
  RunOrder order;
  Liveness live;
  // Offsets in the arena: by ValueId (0 for what does not live there), and by position.
  std::vector<std::size_t> values;
  std::vector<std::size_t> workspaces;
  std::size_t arena_bytes = 0;
};

// What arranging must know of one op of the lowered graph.
struct OpNeeds {
  OpMemory memory;
  double seconds = 0;  // infinite: unknown
};

// A result that many ops read, now and much later, may be made again instead of held, if its op is
// cheap: see kMostRepeatedShare and kLeastWorth in arrangement.cc. The bytes of a result do not
// depend on how a graph is arranged. Errors are those of Graph::add_op.
Result<Arrangement> arrange(const Graph& lowered, std::span<const OpNeeds> needs);

}  // namespace mezzotint
