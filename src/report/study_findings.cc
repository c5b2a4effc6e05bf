#include <fmt/format.h>

#include <algorithm>

#include "report/study.h"

namespace mezzotint {
namespace {

const StudyRow* find(const std::vector<StudyRow>& rows, std::string_view name) {
  const auto found = std::ranges::find(rows, name, &StudyRow::name);
  return found != rows.end() && found->absent.empty() ? &*found : nullptr;
}

std::string conversions_finding(const StudyRow& first, const StudyRow& last) {
  return fmt::format(
      "Conversions: {:.0f} ops that only change a layout take {:.0f} % of the time on "
      "channels-first activations, {:.0f} take {:.1f} % on channels-last ones, which run {:.2f} "
      "times as fast.",
      first.conversions, 100 * first.conversion_share, last.conversions,
      100 * last.conversion_share, first.seconds.median / last.seconds.median);
}

std::string fragmentation_finding(const StudyRow& first, const StudyRow& last) {
  const double more = last.tasks / first.tasks;
  const bool shattered = more > 2 && last.task_seconds < first.task_seconds / 2;
  return fmt::format(
      "Fragmentation: channels-last runs {:.0f} pieces of {:.0f} us in {:.0f} loops, "
      "channels-first {:.0f} of {:.0f} us in {:.0f}: {}.",
      last.tasks, last.task_seconds * 1e6, last.loops, first.tasks, first.task_seconds * 1e6,
      first.loops,
      shattered ? "the layout shatters the work" : "the layout does not shatter the work here");
}

}  // namespace

std::vector<std::string> study_findings(const std::vector<StudyRow>& rows) {
  std::vector<std::string> findings;
  const StudyRow* first = find(rows, "channels-first");
  const StudyRow* last = find(rows, "channels-last");
  const StudyRow* both = find(rows, "both");
  const StudyRow* winograd = find(rows, "winograd");
  if (first != nullptr && last != nullptr) {
    findings.push_back(conversions_finding(*first, *last));
    findings.push_back(fragmentation_finding(*first, *last));
  }
  if (last != nullptr && both != nullptr) {
    findings.push_back(fmt::format(
        "Narrow operands: {:.0f} % of the operations run on a narrow unit; that takes {:.2f} times "
        "the time of float32, at a relative L2 of {:.1e}.",
        100 * both->profile.matrix_flops_share, both->seconds.median / last->seconds.median,
        both->relative_l2));
  }
  if (last != nullptr && winograd != nullptr) {
    findings.push_back(fmt::format(
        "Fewer multiplications: Winograd with what it fuses runs {:.2f} times as fast as direct "
        "channels-last convolutions, at a relative L2 of {:.1e}.",
        last->seconds.median / winograd->seconds.median, winograd->relative_l2));
  }
  return findings;
}

}  // namespace mezzotint
