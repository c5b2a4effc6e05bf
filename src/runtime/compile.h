// From a graph to a program: rewrite, split by rate, choose implementations, plan memory, prepare
// kernels.
#pragma once

#include <string>
#include <vector>

#include "backend/backend.h"
#include "graph/graph.h"
#include "graph/machine.h"
#include "graph/plan.h"
#include "runtime/program.h"

namespace mezzotint {

struct CompileOptions {
  Machine machine;
  Plan plan;
  // Values (or modules) whose activations become outputs besides the graph's own, under these
  // names: results of ops, in float32.
  std::vector<std::string> keep;
  // Off: no result takes over an input's memory, so listeners see inputs as the op did.
  bool allow_in_place = true;
};

// The graph as the backend will run it: activations in NDHWC, convolution regions grown, dead ops
// gone.
[[nodiscard]] Result<Graph> lower(const Graph& graph, const Backend& backend,
                                  const CompileOptions& options);

// One implementation that could compute an op, and why it doesn't.
struct Choice {
  std::string implementation;
  std::string refusal;  // empty: it can
  // When it can: on one thread, which is what choices compare, so that a plan does not depend on
  // the number of threads; and on all of the machine's.
  double cost_seconds = 0;
  double predicted_seconds = 0;
  bool chosen = false;
};

struct Explanation {
  std::string op;
  OpKind kind = OpKind::add;
  std::vector<Choice> choices;
};

// For each op of a lowered graph, every implementation in order of preference.
[[nodiscard]] std::vector<Explanation> explain(const Graph& lowered, const Backend& backend,
                                               const CompileOptions& options);

// kUnsupported names an op that no implementation can compute, with each one's reason;
// kInvalidInput an output or a kept name that is no (float32) result of an op, or a plan entry
// that no op of the lowered graph answers to.
[[nodiscard]] Result<Program> compile(const Graph& graph, const Backend& backend,
                                      const CompileOptions& options);

}  // namespace mezzotint
