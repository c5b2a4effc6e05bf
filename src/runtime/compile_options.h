// What a graph is compiled for.
#pragma once

#include <string>
#include <vector>

#include "backend/backend.h"
#include "graph/machine.h"
#include "graph/plan.h"

namespace mezzotint {

struct CompileOptions {
  Machine machine;
  Plan plan;
  // Values (or modules) whose activations become outputs besides the graph's own, under these
  // names: results of ops, in float32.
  std::vector<std::string> keep;
  // Off: no result takes over an input's memory, so listeners see inputs as the op did.
  bool allow_in_place = true;

  [[nodiscard]] Target target() const { return {machine, plan.precision}; }
};

}  // namespace mezzotint
