#include "pipeline/study_plans.h"

#include <algorithm>

#include "base/error.h"
#include "runtime/explain.h"

namespace mezzotint {
namespace {

constexpr std::string_view kDirect[] = {"onednn.conv", "onednn.conv_narrow"};
// What few channels keep from the unit runs in float32.
constexpr std::string_view kNarrow[] = {"onednn.conv_bf16", "onednn.conv", "onednn.conv_narrow"};

constexpr StudyVariant kVariants[] = {
    {"channels-first", "direct convolutions in float32 on row-major activations", Precision::kFp32,
     Layout::kRowMajor, kDirect},
    {"channels-last", "the same on channels-last activations", Precision::kFp32,
     Layout::kChannelsLast, kDirect},
    {"narrow", "direct convolutions of bfloat16 operands on row-major activations",
     Precision::kFast, Layout::kRowMajor, kNarrow},
    {"both", "the same on channels-last activations", Precision::kFast, Layout::kChannelsLast,
     kNarrow},
    {"winograd",
     "the default plan in float32: F(4^3), with what it fuses",
     Precision::kFp32,
     Layout::kChannelsLast,
     {}},
};

Result<ProgramExplanation> explain_plan(const Graph& graph, const Backend& backend,
                                        const Machine& machine, const Plan& plan) {
  CompileOptions options;
  options.machine = machine;
  options.plan = plan;
  return explain(graph, backend, options);
}

// Empty when it can compute nothing of the kind.
std::string_view first_that_can(const StudyVariant& variant, const Explanation& op) {
  for (const std::string_view name : variant.implementations) {
    const auto found = std::ranges::find(op.choices, name, &Choice::implementation);
    if (found != op.choices.end() && found->refusal.empty()) {
      return name;
    }
  }
  return {};
}

}  // namespace

std::span<const StudyVariant> med_ddpm_variants() {
  return kVariants;
}

Result<Plan> study_plan(const StudyVariant& variant, const Graph& graph, const Backend& backend,
                        const Machine& machine) {
  Plan plan;
  plan.precision = variant.precision;
  plan.layout = variant.layout;
  if (variant.implementations.empty()) {
    return plan;
  }
  if (variant.precision == Precision::kFast && !bf16_unit(machine)) {
    return unsupported("no bf16 unit on this machine");
  }
  for (const Op& op : graph.ops()) {
    if (op.kind == OpKind::conv3d) {
      plan.entries[op.name].fuse = Fusions{};
    }
  }
  const auto explained = explain_plan(graph, backend, machine, plan);
  if (!explained) {
    return explained.error();
  }
  for (const Explanation& op : explained->ops) {
    const auto entry = plan.entries.find(op.op);
    if (entry != plan.entries.end()) {
      entry->second.implementation = first_that_can(variant, op);
    }
  }
  return plan;
}

}  // namespace mezzotint
