// What the processor's counters count during each op of a program.
#pragma once

#include <vector>

#include "base/perf_counters.h"
#include "runtime/listener.h"

namespace mezzotint {

// For one run, in which nothing is timed: reading the counters takes a system call for each thread,
// before and after each op.
class CounterRecorder final : public Listener {
 public:
  // Of the team of the run.
  explicit CounterRecorder(const PerfCounters& counters) : counters_(counters) {}

  void before_op(const ProgramOp& op) override;
  Status on_op(const OpEvent& event) override;

  // In the order they run.
  [[nodiscard]] const std::vector<Counters>& ops() const { return ops_; }

 private:
  const PerfCounters& counters_;
  PerfCounters::Reading begin_;
  std::vector<Counters> ops_;
};

}  // namespace mezzotint
