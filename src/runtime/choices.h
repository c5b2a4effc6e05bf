// Which implementation computes an op: every one that could, and why each other doesn't.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "backend/backend.h"
#include "graph/graph.h"
#include "mezzotint/result.h"

namespace mezzotint {

// One implementation that could compute an op, and why it doesn't.
struct Choice {
  std::string implementation;
  std::string refusal;  // empty: it can
  // When it can: the time on one thread; that and the price of the weights it holds, which choices
  // compare, so that a plan does not depend on the number of threads; the time on all of them.
  double one_thread_seconds = 0;
  double cost_seconds = 0;
  double predicted_seconds = 0;
  double packed_bytes = 0;  // Work::packed_bytes
  bool chosen = false;
};

struct Explanation {
  std::string op;
  OpKind kind = OpKind::add;
  std::string planned;          // the only implementation asked for; empty: any
  std::vector<Choice> choices;  // one per implementation, in the backend's order

  // What `planned` says, else the cheapest that can; null when none can.
  [[nodiscard]] const Choice* chosen() const;
  // Those of implementations that were asked for, by name.
  [[nodiscard]] std::map<std::string, std::string> refusals() const;
};

// memory_price: seconds that a byte of packed weights costs (memory_price.h).
[[nodiscard]] Explanation explain_op(const OpView& view, const Backend& backend,
                                     const Target& target, const std::string& planned,
                                     double memory_price);

// kUnsupported: why an op without a chosen implementation cannot be computed. `plan` is what may
// have asked for one.
[[nodiscard]] Error nothing_can(const Explanation& explanation, const Plan& plan);

}  // namespace mezzotint
