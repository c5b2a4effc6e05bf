// The published experiments as plans for one network.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "backend/backend.h"
#include "graph/graph.h"
#include "graph/machine.h"
#include "graph/plan.h"

namespace mezzotint {

// An experiment: how convolutions are computed, in which order their activations lie, and whether
// anything but a bias is fused into them.
struct StudyVariant {
  std::string_view name;
  std::string_view meaning;
  Precision precision = Precision::kFp32;
  Layout layout = Layout::kChannelsLast;
  // For convolutions, the first that can; none: the default plan, with what it fuses.
  std::span<const std::string_view> implementations;
};

[[nodiscard]] std::span<const StudyVariant> med_ddpm_variants();

// The variant's plan for a network as Session compiles it. kUnsupported where the machine lacks a
// unit that the variant is about ("no bf16 unit on this machine").
Result<Plan> study_plan(const StudyVariant& variant, const Graph& graph, const Backend& backend,
                        const Machine& machine);

}  // namespace mezzotint
