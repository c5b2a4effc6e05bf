#include "pipeline/tune_parts.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "pipeline/outputs.h"
#include "pipeline/tune_check.h"

namespace mezzotint {
namespace {

constexpr std::uint64_t kPlanBytes = 1 << 20;  // more than any plan takes

}  // namespace

std::map<std::string, double> held_bytes(const Program& program) {
  std::map<std::string, double> bytes;
  for (const ProgramOp& op : program.ops()) {
    bytes[op.name] = static_cast<double>(op.packed_bytes + op.workspace_bytes);
  }
  return bytes;
}

double of_op(const std::map<std::string, double>& bytes, const std::string& op) {
  const auto found = bytes.find(op);
  return found == bytes.end() ? 0 : found->second;
}

double added_error(const TuneDecision& decision) {
  return decision.error_growth / decision.growth_before;
}

const TuneDecision& worst_decision(const std::vector<TuneDecision>& decisions,
                                   const Excess& excess) {
  return *std::ranges::max_element(decisions, [&](const TuneDecision& a, const TuneDecision& b) {
    const double more_a = excess.added(a);
    const double more_b = excess.added(b);
    return more_a != more_b ? more_a < more_b : a.gain_seconds > b.gain_seconds;
  });
}

Result<OutputFile> open_plan_file(const TuneRequest& request, const Subject& subject,
                                  const std::optional<std::filesystem::path>& mask) {
  const std::filesystem::path outputs[] = {request.out};
  std::vector<std::filesystem::path> inputs = subject.files();
  if (mask) {
    inputs.push_back(*mask);
  }
  if (Status status = check_outputs_spare_inputs(outputs, inputs); !status) {
    return status.error();
  }
  return OutputFile::create(request.out, request.overwrite, kPlanBytes);
}

PlanProvenance tune_provenance(const TuneReport& report, const Machine& machine) {
  PlanProvenance provenance;
  provenance.processor = machine.processor;
  provenance.threads = machine.threads;
  provenance.predicted_seconds = report.is_default ? report.default_seconds : report.tuned_seconds;
  if (report.race) {
    provenance.measured_seconds =
        report.is_default ? report.race->default_seconds : report.race->tuned_seconds;
    provenance.default_seconds = report.race->default_seconds;
  }
  if (report.check) {
    const double distance =
        worst(report.is_default ? report.check->standard : report.check->tuned).relative_l2;
    if (std::isfinite(distance)) {
      provenance.relative_l2 = distance;
    }
  }
  provenance.notes = report.notes;
  provenance.notes.push_back(report.verdict);
  return provenance;
}

}  // namespace mezzotint
