// Checks every rule that a Graph promises. Run after building, and after each pass in tests and
// debug builds.
#pragma once

#include "graph/graph.h"
#include "mezzotint/result.h"

namespace mezzotint {

// The rules; the first one broken is reported (kInvalidInput) with the op or value it was found at:
// - every id is in range; ops read only what inputs, parameters and earlier ops define;
// - every value is defined once: by its place in inputs() or parameters(), or by its producer;
// - names of values are unique and find_value() finds them; an op's first result has its name, and
//   the k-th "name:k"; an alias is not the name of another value;
// - types, inferred again, are those recorded; dimensions are at least 1, sizes fit into 64 bits,
//   channels_last has rank 5; parameters are row-major float32 with rate model;
// - a result's rate is the slowest that all its inputs allow;
// - there is an output;
// - a region has a body without parameters, itself verified, whose inputs have the types and rates
//   of the region's; no other op has a body; bodies nest at most kMaxBodyDepth deep.
Status verify(const Graph& graph);

inline constexpr int kMaxBodyDepth = 8;

}  // namespace mezzotint
