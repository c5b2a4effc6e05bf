// Measures one op: checks it against the law, then times it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "backend/backend.h"
#include "graph/machine.h"
#include "graph/plan.h"
#include "mezzotint/cancel.h"
#include "pipeline/op_check.h"
#include "pipeline/problem.h"
#include "pipeline/timing.h"
#include "runtime/explain.h"

namespace mezzotint {

struct ProblemOptions {
  Precision precision = Precision::kFp32;
  std::string implementation;  // empty: what the plan chooses
  TimingOptions timing;
  std::optional<std::uint64_t> memory_limit;  // bytes
};

struct ProblemReport {
  std::string problem;
  std::string implementation;
  OpVerdict verdict;  // the worst of the op's outputs
  // Only when the verdict is good: how fast a wrong result comes does not matter. The op runs again
  // and again on the same memory, so small problems find it in the cache.
  Timing timing;
  double flops = 0;              // of the direct form
  double bytes = 0;              // inputs, parameters and outputs, each once
  std::uint64_t peak_bytes = 0;  // high-water mark of the process
};

// Inputs are normal noise, weights random_parameters.h's, both the same in every run.
Result<ProblemReport> bench_problem(const Problem& problem, const Backend& backend,
                                    const Machine& machine, const ProblemOptions& options,
                                    const CancelToken* cancel = nullptr);

// What could compute the problem's op, in order of preference.
Result<ProgramExplanation> explain_problem(const Problem& problem, const Backend& backend,
                                           const Machine& machine, const ProblemOptions& options);

}  // namespace mezzotint
