#include "cli/study_print.h"

#include <fmt/format.h>

#include <string>
#include <vector>

#include "base/figures.h"
#include "cli/arguments.h"
#include "cli/columns.h"
#include "cli/print.h"

namespace mezzotint::cli {
namespace {

std::string or_dash(const std::optional<double>& value, fmt::format_string<const double&> format) {
  return value ? fmt::format(format, *value) : "-";
}

// Of operations and of time; "-": no such unit on this machine.
std::string share_text(const std::optional<WorkShare>& share) {
  return share ? fmt::format("{:.0f}/{:.0f} %", 100 * share->flops, 100 * share->time) : "-";
}

void print_speed(const Study& study) {
  const double baseline = study.rows[0].absent.empty() ? study.rows[0].seconds.median : 0;
  print_to(stdout, "\n  {:<14} {:>10} {:>7} {:>7} {:>9} {:>10} {:>9} {:>9}\n", "", "step", "spread",
           "speed", "attained", "peak", "rel. L2", "SSIM");
  for (const StudyRow& row : study.rows) {
    if (!row.absent.empty()) {
      print_to(stdout, "  {:<14} {}\n", row.name, shorten(on_one_line(row.absent), 80));
      continue;
    }
    const std::optional<double> speed =
        baseline > 0 ? std::optional(baseline / row.seconds.median) : std::nullopt;
    const std::optional<double> attained =
        row.attained ? std::optional(100 * *row.attained) : std::nullopt;
    print_to(stdout, "  {:<14} {:>10} {:>7} {:>7} {:>9} {:>10} {:>9.1e} {:>9}\n", row.name,
             format_duration(row.seconds.median),
             fmt::format("{:.0f} %", 100 * row.seconds.relative()), or_dash(speed, "{:.2f}x"),
             or_dash(attained, "{:.0f} %"), format_bytes(row.profile.peak_bytes), row.relative_l2,
             or_dash(row.ssim, "{:.6f}"));
  }
}

void print_structure(const Study& study) {
  print_to(stdout, "\n  {:<14} {:>5} {:>7} {:>11} {:>7} {:>10} {:>15} {:>12} {:>9}\n", "", "ops",
           "kernels", "mean kernel", "pieces", "mean piece", "conversions", "narrow units", "AMX");
  for (const StudyRow& row : study.rows) {
    if (!row.absent.empty()) {
      continue;
    }
    print_to(stdout, "  {:<14} {:>5} {:>7.0f} {:>11} {:>7.0f} {:>10} {:>15} {:>12} {:>9}\n",
             row.name, row.profile.ops.size(), row.kernels,
             fmt::format("{:.1f} us", row.kernel_seconds * 1e6), row.tasks,
             fmt::format("{:.0f} us", row.task_seconds * 1e6),
             fmt::format("{:.0f}, {:.1f} % time", row.conversions, 100 * row.conversion_share),
             share_text(row.profile.narrow_share), share_text(row.profile.matrix_share));
  }
  print_to(
      stdout,
      "  units: share of operations / of time; narrow: vectors of bf16 or int8; -: none here\n");
}

}  // namespace

void print_study(const Study& study, std::size_t said) {
  print_to(stdout, "{}",
           wrap(fmt::format("{} at {}", on_one_line(study.model), grid_text(study.grid)), 0));
  print_to(stdout, "{}", wrap("machine  " + on_one_line(study.machine), 2));
  print_to(stdout, "{}",
           wrap(fmt::format("time of an evaluation: median of {} round{}, quartiles' distance; "
                            "errors against {}",
                            study.rounds, study.rounds == 1 ? "" : "s", Study::kTruth),
                2));
  if (study.steps > 0) {
    print_to(stdout, "{}",
             wrap(fmt::format("volumes of {} steps from one noise; SSIM in windows of 7x7x7, data "
                              "range 2, inside the mask dilated by 3 voxels",
                              study.steps),
                  2));
  }
  for (const StudyRow& row : study.rows) {
    print_to(stdout, "{}", wrap(fmt::format("{:<15} {}", row.name, row.meaning), 2));
  }
  print_speed(study);
  print_structure(study);
  print_to(stdout, "\n");
  for (const std::string& finding : study.findings) {
    print_to(stdout, "{}", wrap(on_one_line(finding), 0));
  }
  for (const StudyRow& row : study.rows) {
    const std::vector<std::string>& warnings = row.profile.warnings;
    for (std::size_t i = said; i < warnings.size(); ++i) {
      print_to(stderr, "{}",
               wrap(on_one_line(fmt::format("warning: {}: {}", row.name, warnings[i])), 0));
    }
  }
  if (!study.files.empty()) {
    print_to(stdout, "\n");
    for (const std::filesystem::path& path : study.files) {
      print_to(stdout, "{}\n", on_one_line(path.string()));
    }
  }
}

}  // namespace mezzotint::cli
