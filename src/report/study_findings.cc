#include <fmt/format.h>

#include <algorithm>

#include "report/study.h"

namespace mezzotint {
namespace {

const StudyRow* find(const std::vector<StudyRow>& rows, std::string_view name) {
  const auto found = std::ranges::find(rows, name, &StudyRow::name);
  return found != rows.end() && found->absent.empty() ? &*found : nullptr;
}

std::string conversions_of(const StudyRow& row) {
  return row.conversions == 0 ? "none"
                              : fmt::format("{:.0f} that take {:.1f} % of the time",
                                            row.conversions, 100 * row.conversion_share);
}

std::string conversions_finding(const StudyRow& first, const StudyRow& last) {
  return fmt::format(
      "Conversions: ops that only change a layout: channels-first has {}, channels-last {}; "
      "channels-last runs {:.2f} times as fast.",
      conversions_of(first), conversions_of(last), first.seconds.median / last.seconds.median);
}

// More kernels, each shorter.
bool shatters(const StudyRow& row, const StudyRow& other) {
  return row.kernels > other.kernels && row.kernel_seconds < other.kernel_seconds;
}

std::string fragmentation_finding(const StudyRow& first, const StudyRow& last) {
  const char* const which = shatters(first, last)   ? "channels-first has more and shorter ones"
                            : shatters(last, first) ? "channels-last has more and shorter ones"
                                                    : "neither has more and shorter ones";
  return fmt::format(
      "Fragmentation: channels-first starts {:.0f} kernels of {:.1f} us on average, channels-last "
      "{:.0f} of {:.1f} us: {}. Both share one convolution kernel, which channels-first puts "
      "between conversions, as frameworks on processors do with a blocked one.",
      first.kernels, first.kernel_seconds * 1e6, last.kernels, last.kernel_seconds * 1e6, which);
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
