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

// The unit besides float32's multiply-add that does most.
std::string narrow_finding(const StudyRow& last, const StudyRow& both) {
  double all = 0;
  UnitWork most;
  for (const UnitWork& work : both.profile.units) {
    all += work.flops;
    if (work.unit != MathUnit::kFma && (most.unit == MathUnit::kFma || work.flops > most.flops)) {
      most = work;
    }
  }
  return fmt::format(
      "Narrow operands: {:.0f} % of the operations run on {}{}; that takes {:.2f} times the time "
      "of float32, at a relative L2 of {:.1e}.",
      all > 0 ? 100 * most.flops / all : 0, name_of(most.unit),
      is_matrix_unit(most.unit) ? ", a matrix unit" : ", a vector unit",
      both.seconds.median / last.seconds.median, both.relative_l2);
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
    findings.push_back(narrow_finding(*last, *both));
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
