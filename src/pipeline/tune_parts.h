// Small parts of tune_model: what ops hold, which one is put back, the plan's file.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/output_file.h"
#include "pipeline/plan_file.h"
#include "pipeline/tune_model.h"
#include "runtime/program.h"

namespace mezzotint {

// Bytes of weights and workspace, by op; 0 of an op that is not there.
[[nodiscard]] std::map<std::string, double> held_bytes(const Program& program);
[[nodiscard]] double of_op(const std::map<std::string, double>& bytes, const std::string& op);

// What exceeds a budget, and what a decision adds to it.
struct Excess {
  std::string reason;  // empty: none
  std::function<double(const TuneDecision&)> added;
};

// Of a decision's algorithm against the default's.
[[nodiscard]] double added_error(const TuneDecision& decision);

// The one of at least one that adds most to what is exceeded, of equals the one that gains least.
[[nodiscard]] const TuneDecision& worst_decision(const std::vector<TuneDecision>& decisions,
                                                 const Excess& excess);

// Spares what the subject and the mask were read from.
[[nodiscard]] Result<OutputFile> open_plan_file(const TuneRequest& request, const Subject& subject,
                                                const std::optional<std::filesystem::path>& mask);

// Of the plan that the report says was written.
[[nodiscard]] PlanProvenance tune_provenance(const TuneReport& report, const Machine& machine);

}  // namespace mezzotint
