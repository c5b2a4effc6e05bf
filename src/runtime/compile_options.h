// What a graph is compiled for.
#pragma once

#include <cstdint>
#include <optional>
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
  // Bytes that Program::peak_bytes() should not exceed. Where the cheapest implementations do,
  // others take their place that need less, those first that save most for the time that they cost;
  // an op with an entry in the plan keeps what that names. A program that exceeds it still is the
  // smallest that was found.
  std::optional<std::uint64_t> memory_limit = std::nullopt;

  [[nodiscard]] Target target() const { return {machine, plan.precision}; }
};

}  // namespace mezzotint
