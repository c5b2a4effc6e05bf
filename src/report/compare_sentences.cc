#include "report/compare_sentences.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <utility>

#include "base/figures.h"

namespace mezzotint {
namespace {

// Groups that are named in a sentence, and what each must explain.
constexpr std::size_t kNamed = 3;
constexpr double kLeastShare = 0.05;

std::string group_name(const GroupChange& group) {
  return group.level == "vectors" ? fmt::format("{} on vectors", group.kind)
                                  : fmt::format("{} at {}", group.kind, group.level);
}

// Its change is a fact and no noise.
bool is_certain(const GroupChange& group) {
  return group.beyond_noise || !group.base || !group.other;
}

// "71 % of the difference is conv3d at 64x64x64, 12 % affine at 64x64x64"; empty: no group beyond
// noise explains a part worth a word.
std::string explanation(const Difference& difference) {
  std::vector<std::string> parts;
  for (const GroupChange& group : difference.groups) {
    if (parts.size() < kNamed && is_certain(group) && group.share.value_or(0) >= kLeastShare) {
      parts.push_back(fmt::format("{} {}{}", format_percent(*group.share),
                                  parts.empty() ? "of the difference is " : "", group_name(group)));
    }
  }
  return fmt::format("{}", fmt::join(parts, ", "));
}

std::string how_much(const Difference& difference, const std::string& base,
                     const std::string& other) {
  if (!difference.ratio) {
    return fmt::format("{} and {} cannot be compared: a time is 0.", other, base);
  }
  const TimeRatio& ratio = *difference.ratio;
  const std::string times = fmt::format("{} takes {:.3g} of {}'s time ({:.3g} to {:.3g})", other,
                                        ratio.median, base, ratio.low, ratio.high);
  if (!difference.beyond_noise) {
    return times + ": no difference beyond noise.";
  }
  const std::string why = explanation(difference);
  return why.empty() ? times + "; no group of ops beyond noise explains it."
                     : times + ": " + why + ".";
}

std::string by_class(const Difference& difference, const std::string& base) {
  std::vector<std::string> parts;
  for (const SumChange& sum : difference.classes) {
    if (std::abs(sum.share.value_or(0)) >= kLeastShare) {
      parts.push_back(fmt::format("{} {} ({})", sum.name, format_change(sum.difference()),
                                  format_percent(*sum.share)));
    }
  }
  return parts.empty()
             ? ""
             : fmt::format("By what bounds the ops in {}: {}.", base, fmt::join(parts, ", "));
}

std::string changed_ops(const Difference& difference) {
  if (difference.ops.empty()) {
    return "";
  }
  const OpChange& most = difference.ops.front();
  const std::size_t count = difference.ops.size();
  return fmt::format(
      "{} op{} changed implementation or class, most of all {} ({}): {}, bound by {}, before; {}, "
      "bound by {}, now.",
      count, count == 1 ? "" : "s", most.base.op, format_change(most.difference()),
      most.base.implementation, name_of(most.base.bottleneck), most.other.implementation,
      name_of(most.other.bottleneck));
}

}  // namespace

std::vector<std::string> difference_sentences(const Difference& difference, const std::string& base,
                                              const std::string& other) {
  std::vector<std::string> sentences = {how_much(difference, base, other)};
  for (std::string& sentence : std::vector{by_class(difference, base), changed_ops(difference)}) {
    if (!sentence.empty()) {
      sentences.push_back(std::move(sentence));
    }
  }
  return sentences;
}

}  // namespace mezzotint
