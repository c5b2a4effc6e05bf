// Runs a graph op by op on a backend, without the compiler: for tests of kernels.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "backend/backend.h"
#include "graph/graph.h"
#include "mezzotint/result.h"

namespace mezzotint::testing {

// Row-major logical values of a graph's inputs and parameters, by name.
using HostTensors = std::map<std::string, std::vector<float>, std::less<>>;

// Nothing: take the first implementation that accepts. Otherwise ops of `kind` must take `name`.
struct ForcedImplementation {
  OpKind kind;
  std::string_view name;
};

// Executes all ops; each takes the backend's first implementation without a refusal.
// Returns the graph's outputs by value name, in row-major order as float32.
// kUnsupported with all refusals when no implementation takes an op.
Result<HostTensors> run_graph(const Graph& graph, const Backend& backend,
                              const HostTensors& bindings, const Machine& machine,
                              const std::optional<ForcedImplementation>& forced = std::nullopt);

// This machine, with `threads` threads.
[[nodiscard]] Machine test_machine(int threads = 2);

}  // namespace mezzotint::testing
