// Events of a run. Progress, finite checks, dumps and profiles are listeners; no op knows they
// exist.
#pragma once

#include <span>
#include <string>

#include "backend/backend.h"
#include "graph/graph.h"
#include "mezzotint/result.h"

namespace mezzotint {

// What a program says about one of its ops.
struct ProgramOp {
  std::string name;
  OpKind kind = OpKind::add;
  std::string implementation;
  bool is_repeated = false;  // "NAME.again": NAME's results were not held for all of their readers
  Rate rate = Rate::kStep;
  double flops = 0;  // of the direct form
  double bytes = 0;  // inputs, parameters and outputs, each once
  Work work;         // what the implementation really does
  double predicted_seconds = 0;
  std::size_t packed_bytes = 0;  // 0 when repeated: they are there
  std::size_t workspace_bytes = 0;
  std::size_t live_bytes = 0;  // of the arena while it runs: results that are held, its workspace
  double error_growth = 1;     // Implementation::error_growth
  double kernels = 0;          // Kernel::kernels
};

struct OpEvent {
  const ProgramOp& op;
  OpView view;  // the op in the lowered graph
  // In the op's order, valid during the call only. A parameter has no data, and an input may have
  // been overwritten by output 0 unless CompileOptions::allow_in_place was off.
  std::span<const Buffer> inputs;
  std::span<const Buffer> outputs;
  double seconds = 0;
};

class Listener {
 public:
  virtual ~Listener() = default;
  // Right before each op is launched.
  virtual void before_op(const ProgramOp& /*op*/) {}
  // After each op. An error stops the run and is what it returns.
  virtual Status on_op(const OpEvent& event) = 0;
};

// Stops at the first op that makes a NaN or an infinity (kNumerics), naming it.
class FiniteCheck final : public Listener {
 public:
  Status on_op(const OpEvent& event) override;
};

}  // namespace mezzotint
