#include "report/plan_comparison.h"

#include <algorithm>

namespace mezzotint {

std::size_t PlanComparison::differing(std::size_t plan) const {
  return static_cast<std::size_t>(std::ranges::count_if(
      ops, [&](const PlannedOp& op) { return op.entries[plan] != op.entries[0]; }));
}

std::string layout_words(const std::optional<Layout>& layout) {
  if (!layout) {
    return "plan's";
  }
  return *layout == Layout::kRowMajor ? "channels-first" : "channels-last";
}

}  // namespace mezzotint
