#include "report/plan_comparison.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/figures.h"
#include "report/compare.h"

namespace mezzotint {
namespace {

// "41.20 ms measured where the default takes 50.30 ms, relative L2 1.2e-06"; empty: the file says
// nothing.
std::string evidence(const ComparedPlan& plan) {
  std::vector<std::string> parts;
  if (plan.measured_seconds) {
    parts.push_back(format_duration(*plan.measured_seconds) + " measured");
    if (plan.default_seconds) {
      parts.back() +=
          fmt::format(" where the default takes {}", format_duration(*plan.default_seconds));
    }
  }
  if (plan.predicted_seconds) {
    parts.push_back(format_duration(*plan.predicted_seconds) + " predicted");
  }
  if (plan.relative_l2) {
    parts.push_back(fmt::format("relative L2 {:.2g}", *plan.relative_l2));
  }
  return fmt::format("{}", fmt::join(parts, ", "));
}

void add_contrasts(const ComparedPlan& base, const ComparedPlan& other, const std::string& label,
                   std::vector<std::string>& sentences) {
  const auto compare = [&](std::string_view what, const auto& before, const auto& after) {
    if (before != after) {
      sentences.push_back(
          fmt::format("{} differs from A in {}: {}, A: {}.", label, what, after, before));
    }
  };
  compare("precision", name_of(base.precision), name_of(other.precision));
  compare("layout", layout_words(base.layout), layout_words(other.layout));
  compare("instruction set", base.isa, other.isa);
  compare("processor", base.processor, other.processor);
  compare("threads", base.threads, other.threads);
  compare("version", base.version, other.version);
}

}  // namespace

std::vector<std::string> plan_sentences(const PlanComparison& comparison) {
  std::vector<std::string> sentences;
  const std::size_t all = comparison.ops.size() + comparison.equal_ops;
  for (std::size_t i = 1; i < comparison.plans.size(); ++i) {
    const std::size_t differing = comparison.differing(i);
    const std::string label = compared_label(i);
    sentences.push_back(differing == 0 ? fmt::format("{} decides every op as A does.", label)
                                       : fmt::format("{} decides {} of {} ops otherwise than A.",
                                                     label, differing, all));
    add_contrasts(comparison.plans[0], comparison.plans[i], label, sentences);
  }
  for (std::size_t i = 0; i < comparison.plans.size(); ++i) {
    if (const std::string words = evidence(comparison.plans[i]); !words.empty()) {
      sentences.push_back(fmt::format("Of {}, its file says: {}.", compared_label(i), words));
    }
  }
  return sentences;
}

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
