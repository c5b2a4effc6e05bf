// Which implementation computes an op: every one that could, and why each other doesn't.
#pragma once

#include <string>
#include <vector>

#include "backend/backend.h"
#include "graph/graph.h"
#include "mezzotint/result.h"
#include "runtime/compile_options.h"

namespace mezzotint {

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
  std::vector<Choice> choices;  // one per implementation, in the backend's order
};

// The plan's entry for the op, else the cheapest that can, is marked as chosen; nothing is when
// none can.
[[nodiscard]] Explanation explain_op(const OpView& view, const Backend& backend,
                                     const CompileOptions& options);

// For each op of a lowered graph.
[[nodiscard]] std::vector<Explanation> explain(const Graph& lowered, const Backend& backend,
                                               const CompileOptions& options);

// kUnsupported: why an op without a chosen implementation cannot be computed.
[[nodiscard]] Error nothing_can(const Explanation& explanation, const CompileOptions& options);

}  // namespace mezzotint
