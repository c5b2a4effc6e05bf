#include "cli/profile_print.h"

#include <fmt/format.h>

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

constexpr std::size_t kOpRows = 15;

std::string percent(double share) {
  return fmt::format("{:.1f} %", 100 * share);
}

// "-" where the machine was not measured.
std::string attained(double attainable_seconds, double seconds) {
  return attainable_seconds > 0 && seconds > 0
             ? fmt::format("{:.0f} %", 100 * attainable_seconds / seconds)
             : "-";
}

double giga_per_second(double amount, double seconds) {
  return seconds > 0 ? amount / seconds / 1e9 : 0;
}

// "; 2.31 instructions a cycle" over all ops; empty where one of the two was not counted.
std::string instructions_per_cycle(const Profile& profile) {
  double cycles = 0;
  double instructions = 0;
  for (const OpProfile& op : profile.ops) {
    if (op.counters) {
      cycles += op.counters->cycles.value_or(0);
      instructions += op.counters->instructions.value_or(0);
    }
  }
  return cycles > 0 && instructions > 0
             ? fmt::format("; {:.2f} instructions a cycle", instructions / cycles)
             : "";
}

// "fma 100.0 % of FLOPs, 98.2 % of time" of each unit that this machine has.
std::string units_text(const Profile& profile) {
  double flops = 0;
  for (const UnitWork& work : profile.units) {
    flops += work.flops;
  }
  std::string text = profile.matrix_share ? "" : "no matrix unit (AMX) on this machine";
  for (const UnitWork& work : profile.units) {
    if (work.seconds > 0 || profile.machine.find(work.unit) != nullptr) {
      text +=
          fmt::format("{}{} {} of FLOPs, {} of time", text.empty() ? "" : "; ", name_of(work.unit),
                      percent(flops > 0 ? work.flops / flops : 0),
                      percent(profile.sum_seconds > 0 ? work.seconds / profile.sum_seconds : 0));
    }
  }
  return text;
}

void print_run(const Profile& profile) {
  const Calibration& machine = profile.machine;
  print_to(stdout, "{}",
           wrap(fmt::format("{} at {}, t = {}, {}, {}", on_one_line(profile.model),
                            grid_text(profile.grid), profile.timestep, profile.precision,
                            profile.plan.empty() ? "default plan" : on_one_line(profile.plan)),
                0));
  print_to(stdout, "{}",
           wrap(fmt::format("machine  {}, {}, {} thread{}", machine.processor, machine.isa,
                            machine.threads, machine.threads == 1 ? "" : "s"),
                2));
  print_to(stdout, "  time     {} (median of {}, quartiles {} to {}), {} unheard\n",
           format_duration(profile.seconds.median), profile.runs,
           format_duration(profile.seconds.low), format_duration(profile.seconds.high),
           format_duration(profile.plain_seconds.median));
  print_to(stdout, "  memory   {} peak, of which arena {}, packed weights {}\n",
           format_bytes(profile.peak_bytes), format_bytes(profile.arena_bytes),
           format_bytes(profile.packed_bytes));
  print_to(stdout, "{}", wrap("units    " + units_text(profile), 2));
  print_to(
      stdout, "{}",
      wrap(fmt::format("counters {}{}", profile.counters, instructions_per_cycle(profile)), 2));
}

void print_verdict(const Verdict& verdict) {
  print_to(stdout, "\n");
  for (const std::string& sentence : verdict.sentences) {
    print_to(stdout, "{}", wrap(sentence, 0));
  }
  if (verdict.advice.empty()) {
    return;
  }
  print_to(stdout, "\nwhat would help, as predicted\n");
  for (const Advice& advice : verdict.advice) {
    print_to(stdout, "{}", wrap(advice.text, 2));
    if (!advice.command.empty()) {
      print_to(stdout, "{}", wrap(on_one_line(advice.command), 4, " \\"));
    }
  }
}

void print_groups(const Profile& profile) {
  print_to(stdout, "\n  {:>9} {:>7} {:>4} {:>7} {:>6} {:>8} {:>6}  {:<10} {:<11} {}\n", "time",
           "share", "ops", "GF/s", "GB/s", "attained", "tasks", "bound by", "level", "kind");
  for (const GroupProfile& group : profile.groups) {
    const double seconds = group.seconds.median;
    print_to(stdout, "  {:>9} {:>7} {:>4} {:>7.1f} {:>6.1f} {:>8} {:>6.0f}  {:<10} {:<11} {}\n",
             format_duration(seconds), percent(group.share), group.ops,
             giga_per_second(group.flops, seconds), giga_per_second(group.bytes, seconds),
             attained(group.attainable_seconds, seconds), group.tasks, name_of(group.bottleneck),
             shorten(group.level, 11), shorten(group.kind, 18));
  }
}

void print_slowest_ops(const Profile& profile) {
  std::vector<const OpProfile*> order;
  for (const OpProfile& op : profile.ops) {
    order.push_back(&op);
  }
  std::ranges::stable_sort(order, std::ranges::greater{},
                           [](const OpProfile* op) { return op->seconds.median; });
  print_to(stdout, "\n  {:>9} {:>7} {:>7} {:>8}  {:<10} {:<28} {}\n", "time", "share", "GF/s",
           "attained", "bound by", "op", "implementation");
  const std::size_t rows = std::min(kOpRows, order.size());
  for (std::size_t i = 0; i < rows; ++i) {
    const OpProfile& op = *order[i];
    print_to(stdout, "  {:>9} {:>7} {:>7.1f} {:>8}  {:<10} {:<28} {}\n",
             format_duration(op.seconds.median), percent(op.share),
             giga_per_second(op.flops, op.seconds.median),
             attained(op.attainable_seconds, op.seconds.median), name_of(op.bottleneck),
             shorten(op.op, 28), shorten(op.implementation, 22));
  }
  double rest = 0;
  for (std::size_t i = rows; i < order.size(); ++i) {
    rest += order[i]->seconds.median;
  }
  if (rest > 0) {
    print_to(stdout, "  {:>9} {:>7}  {} more ops\n", format_duration(rest),
             percent(rest / profile.sum_seconds), order.size() - rows);
  }
}

}  // namespace

void print_profile(const Profile& profile) {
  print_run(profile);
  print_verdict(profile.verdict);
  print_groups(profile);
  print_slowest_ops(profile);
}

}  // namespace mezzotint::cli
