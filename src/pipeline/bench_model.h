// Measures one evaluation of a network: checks every op against the law, then times the whole.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "backend/backend.h"
#include "graph/machine.h"
#include "graph/plan.h"
#include "mezzotint/cancel.h"
#include "pipeline/bench_subject.h"
#include "pipeline/op_check.h"
#include "pipeline/timing.h"
#include "runtime/explain.h"

namespace mezzotint {

struct ModelOptions {
  Plan plan;
  bool check = true;
  TimingOptions timing;
  std::optional<std::uint64_t> memory_limit;
};

struct OpTime {
  std::string op;
  std::string implementation;
  double seconds = 0;  // mean over the timed runs
  double flops = 0;
  double bytes = 0;
};

struct ModelReport {
  std::string model;
  std::array<std::int64_t, 3> grid{};
  int timestep = 0;
  // Every op's outputs, when options.check. Sampled from the op's actual inputs, in a run whose
  // results do not overwrite them.
  std::vector<OpVerdict> verdicts;
  // The timed program, which does work in place, predicted the same bytes as the checked one.
  bool same_bytes = true;
  std::optional<Timing> timing;  // absent when a check failed
  std::vector<OpTime> ops;       // slowest first
  double flops = 0;
  double predicted_seconds = 0;
  std::uint64_t predicted_peak_bytes = 0;  // of the whole process, in the timed part
  std::uint64_t peak_bytes = 0;            // the same, measured

  [[nodiscard]] bool ok() const;
  // The verdict of the highest severity; null without any.
  [[nodiscard]] const OpVerdict* worst() const;
};

// x and condition are the subject's; the condition is set once, outside what is timed. Before that,
// memory that the check has freed goes back to the system: the peak is that of the timed part.
Result<ModelReport> bench_model(Subject& subject, const Backend& backend, const Machine& machine,
                                const ModelOptions& options, const CancelToken* cancel = nullptr);

// For each op of the network as it would run, what could compute it.
Result<ProgramExplanation> explain_model(const Subject& subject, const Backend& backend,
                                         const Machine& machine, const Plan& plan);

}  // namespace mezzotint
