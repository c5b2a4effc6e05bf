#include "cli/compare_print.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "base/figures.h"
#include "cli/arguments.h"
#include "cli/columns.h"
#include "cli/print.h"

namespace mezzotint::cli {
namespace {

constexpr std::size_t kRows = 15;
constexpr std::size_t kLongestWord = 60;

// What has names of files in it, which may be long and hold anything.
std::string paragraph(std::string_view text, std::size_t indent) {
  return wrap(shorten_words(on_one_line(text), kLongestWord), indent);
}

// At most nine columns below three hours.
std::string milliseconds(double seconds) {
  return fmt::format("{:.{}f}", 1e3 * seconds, seconds < 10 ? 3 : 1);
}

std::string signed_milliseconds(double seconds) {
  return fmt::format("{:+.{}f}", 1e3 * seconds, std::abs(seconds) < 10 ? 3 : 1);
}

std::string median_of(const std::optional<GroupProfile>& group) {
  return group ? milliseconds(group->seconds.median) : "-";
}

// No "-0 %".
std::string share_text(const std::optional<double>& share) {
  return share ? fmt::format("{:.0f} %", std::round(100 * *share) + 0.0) : "-";
}

// Five columns.
std::string factor(double ratio) {
  return ratio >= 1000 ? ">999"
                       : fmt::format("{:.{}f}", ratio,
                                     ratio < 10    ? 3
                                     : ratio < 100 ? 2
                                                   : 1);
}

std::string ratio_text(const std::optional<TimeRatio>& ratio) {
  return ratio ? factor(ratio->median) : "-";
}

// "0.601..0.640"
std::string interval_text(const std::optional<TimeRatio>& ratio) {
  return ratio ? fmt::format("{}..{}", factor(ratio->low), factor(ratio->high)) : "-";
}

std::string noise_text(const GroupChange& group) {
  if (!group.base || !group.other) {
    return group.base ? "gone" : "new";
  }
  return group.beyond_noise ? "beyond" : "within";
}

void print_profiles(const Comparison& comparison) {
  print_to(stdout, "   {:>9} {:>5} {:>12} {:>7} {:>7} {:>9} {:>9}  {}\n", "ms", "ratio", "interval",
           "kernels", "convert", "arena", "peak", "file");
  for (std::size_t i = 0; i < comparison.profiles.size(); ++i) {
    const auto& [name, profile] = comparison.profiles[i];
    const std::string ratio = i > 0 ? ratio_text(comparison.differences[i - 1].ratio) : "";
    const std::string interval = i > 0 ? interval_text(comparison.differences[i - 1].ratio) : "";
    print_to(stdout, "{}  {:>9} {:>5} {:>12} {:>7.0f} {:>7} {:>9} {:>9}  {}\n", compared_label(i),
             milliseconds(profile.plain_seconds.median), ratio, interval, kernels_of(profile),
             share_text(conversion_share_of(profile)), format_bytes(profile.arena_bytes),
             format_bytes(profile.peak_bytes), shorten(on_one_line(name), 31));
  }
}

void print_groups(const std::vector<GroupChange>& groups, const std::string& label) {
  print_to(stdout, "\n  {:>9} {:>9} {:>5} {:>12} {:>6} {:>9} {:>6} {:<11} {}\n", "A ms",
           label + " ms", "ratio", "interval", "noise", "change", "of it", "level", "kind");
  const std::size_t rows = std::min(kRows, groups.size());
  for (std::size_t i = 0; i < rows; ++i) {
    const GroupChange& group = groups[i];
    print_to(stdout, "  {:>9} {:>9} {:>5} {:>12} {:>6} {:>9} {:>6} {:<11} {}\n",
             median_of(group.base), median_of(group.other), ratio_text(group.ratio),
             interval_text(group.ratio), noise_text(group), signed_milliseconds(group.difference()),
             share_text(group.share), shorten(on_one_line(group.level), 11),
             shorten(on_one_line(group.kind), 23));
  }
  double rest = 0;
  for (std::size_t i = rows; i < groups.size(); ++i) {
    rest += groups[i].difference();
  }
  if (groups.size() > rows) {
    print_to(stdout, "  {:>45} {:>9}        {} more groups\n", "", signed_milliseconds(rest),
             groups.size() - rows);
  }
}

void print_sums(const std::vector<SumChange>& sums, const std::string& label,
                std::string_view what) {
  print_to(stdout, "\n  {:>9} {:>9} {:>9} {:>6}  {}\n", "A ms", label + " ms", "change", "of it",
           what);
  for (std::size_t i = 0; i < std::min(kRows, sums.size()); ++i) {
    const SumChange& sum = sums[i];
    print_to(stdout, "  {:>9} {:>9} {:>9} {:>6}  {}\n", milliseconds(sum.base),
             milliseconds(sum.other), signed_milliseconds(sum.difference()), share_text(sum.share),
             shorten(on_one_line(sum.name), 40));
  }
}

// "winograd-f4", or "winograd-f4 (compute)" where the class changed.
std::string computed_by(const OpProfile& op, const OpChange& change) {
  const std::string name = on_one_line(op.implementation);
  return shorten(change.base.bottleneck == change.other.bottleneck
                     ? name
                     : fmt::format("{} ({})", name, name_of(op.bottleneck)),
                 26);
}

void print_ops(const Difference& difference, const std::string& label) {
  if (!difference.ops.empty()) {
    print_to(stdout, "\n  {:>9}  {:<32} {:<26} {}\n", "change", "op", "A", label);
  }
  for (std::size_t i = 0; i < std::min(kRows, difference.ops.size()); ++i) {
    const OpChange& op = difference.ops[i];
    print_to(stdout, "  {:>9}  {:<32} {:<26} {}\n", signed_milliseconds(op.difference()),
             shorten(on_one_line(op.base.op), 32), computed_by(op.base, op),
             computed_by(op.other, op));
  }
  if (difference.ops.size() > kRows) {
    print_to(stdout, "  {} more ops that changed\n", difference.ops.size() - kRows);
  }
  const auto lone = [](const LoneOps& ops, const std::string& where) {
    if (ops.count > 0) {
      print_to(stdout, "  {} op{} only in {}: {} ms\n", ops.count, ops.count == 1 ? "" : "s", where,
               milliseconds(ops.seconds));
    }
  };
  lone(difference.only_base, "A");
  lone(difference.only_other, label);
}

std::string figure_text(FigureUnit unit, const std::optional<double>& value) {
  if (!value) {
    return "-";
  }
  switch (unit) {
    case FigureUnit::kCount: return fmt::format("{:.0f}", *value);
    case FigureUnit::kShare: return fmt::format("{:.1f} %", 100 * *value);
    case FigureUnit::kBytes: return format_bytes(static_cast<std::uint64_t>(*value));
    case FigureUnit::kSeconds: return fmt::format("{:.2f} us", 1e6 * *value);
    case FigureUnit::kFlopRate: return fmt::format("{:.1f} GF/s", *value / 1e9);
    case FigureUnit::kByteRate: return fmt::format("{:.1f} GB/s", *value / 1e9);
  }
  return "-";
}

// Those that differ.
void print_figures(const std::vector<FigureChange>& figures, const std::string& label) {
  bool headed = false;
  for (const FigureChange& figure : figures) {
    if (figure.base == figure.other) {
      continue;
    }
    if (!headed) {
      print_to(stdout, "\n  {:>14} {:>14} {:>7}  figure\n", "A", label, "ratio");
      headed = true;
    }
    const std::optional<double> ratio = figure.ratio();
    print_to(stdout, "  {:>14} {:>14} {:>7}  {}\n", figure_text(figure.unit, figure.base),
             figure_text(figure.unit, figure.other), ratio ? factor(*ratio) : "-",
             shorten(on_one_line(figure.name), 40));
  }
}

void print_difference(const Difference& difference, const std::string& label) {
  print_to(stdout, "\n");
  for (const std::string& sentence : difference.sentences) {
    print_to(stdout, "{}", paragraph(sentence, 0));
  }
  for (const Contrast& contrast : difference.contrasts) {
    print_to(stdout, "{}",
             paragraph(fmt::format("{} differs from A in {}: {}, A: {}", label, contrast.what,
                                   contrast.other, contrast.base),
                       2));
  }
  print_groups(difference.groups, label);
  print_sums(difference.classes, label, "bound in A by");
  print_sums(difference.kinds, label, "kind");
  print_ops(difference, label);
  print_figures(difference.figures, label);
}

std::string seconds_text(const std::optional<double>& seconds) {
  return seconds ? milliseconds(*seconds) : "-";
}

std::string fuse_text(const std::optional<Fusions>& fusions) {
  return fusions ? describe(*fusions) : "what is cheaper";
}

std::string entry_text(const std::optional<PlanEntry>& entry) {
  if (!entry) {
    return "no entry";
  }
  return fmt::format("{}; layout {}; fuses {}",
                     entry->implementation.empty() ? "the cheapest" : entry->implementation,
                     layout_words(entry->layout), fuse_text(entry->fuse));
}

}  // namespace

void print_comparison(const Comparison& comparison) {
  print_profiles(comparison);
  for (std::size_t i = 0; i < comparison.differences.size(); ++i) {
    print_difference(comparison.differences[i], compared_label(i + 1));
  }
}

void print_comparison(const PlanComparison& comparison) {
  print_to(stdout, "{}",
           paragraph(
               fmt::format("plans for {} at {}", comparison.model, grid_text(comparison.grid)), 0));
  print_to(stdout, "   {:>11} {:>11} {:>12} {:>11} {:>7} {:>9}  {}\n", "measured ms", "default ms",
           "predicted ms", "relative L2", "entries", "otherwise", "file");
  for (std::size_t i = 0; i < comparison.plans.size(); ++i) {
    const ComparedPlan& plan = comparison.plans[i];
    print_to(stdout, "{}  {:>11} {:>11} {:>12} {:>11} {:>7} {:>9}  {}\n", compared_label(i),
             seconds_text(plan.measured_seconds), seconds_text(plan.default_seconds),
             seconds_text(plan.predicted_seconds),
             plan.relative_l2 ? fmt::format("{:.2g}", *plan.relative_l2) : "-", plan.entries,
             comparison.differing(i), shorten(on_one_line(plan.name), 28));
  }
  print_to(stdout, "\n");
  for (const std::string& sentence : comparison.sentences) {
    print_to(stdout, "{}", paragraph(sentence, 0));
  }
  for (const PlannedOp& op : comparison.ops) {
    print_to(stdout, "\n{}", paragraph(op.op, 0));
    for (std::size_t i = 0; i < op.entries.size(); ++i) {
      print_to(stdout, "{}",
               paragraph(fmt::format("{}  {}", compared_label(i), entry_text(op.entries[i])), 2));
    }
  }
  for (std::size_t i = 0; i < comparison.plans.size(); ++i) {
    if (!comparison.plans[i].notes.empty()) {
      print_to(stdout, "\nnotes of {}\n", compared_label(i));
    }
    for (const std::string& note : comparison.plans[i].notes) {
      print_to(stdout, "{}", paragraph(note, 2));
    }
  }
}

}  // namespace mezzotint::cli
