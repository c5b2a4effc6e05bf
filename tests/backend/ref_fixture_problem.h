// Turns the tensors of a parity case into graphs, guided by names and shapes alone.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "graph/graph.h"
#include "support/fixture.h"
#include "support/graph_runner.h"

namespace mezzotint::testing {

// What a truth tensor is the result of, and the op whose implementations are compared; nothing for
// a kind that no graph here computes.
struct ProblemKind {
  std::string name;
  std::optional<OpKind> op;
};

[[nodiscard]] ProblemKind kind_of(const FixtureCase& fixture, const FixtureTensor& truth);

struct Problem {
  Graph graph;  // its first output is to be compared
  HostTensors bindings;
  std::vector<float> expected;  // row-major, as many elements as that output
  std::int64_t terms = 0;       // products summed in one element; 0 when that is not all there is
};

// The graph that computes `truth`, with volumes in layout `activations`. kInvalidInput when tensors
// that its kind needs are missing.
[[nodiscard]] Result<Problem> make_problem(const FixtureCase& fixture, const FixtureTensor& truth,
                                           Layout activations);

}  // namespace mezzotint::testing
