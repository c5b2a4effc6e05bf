#include "cli/bench_print.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/figures.h"
#include "cli/print.h"

namespace mezzotint::cli {
namespace {

using nlohmann::ordered_json;

double per_second(double amount, double seconds) {
  return seconds > 0 ? amount / seconds / 1e9 : 0;
}

std::string describe(const Machine& machine) {
  return fmt::format("{}, {}, {} thread{}", machine.processor, name_of(machine.isa),
                     machine.threads, machine.threads == 1 ? "" : "s");
}

std::string describe(const Timing& timing) {
  return fmt::format("median of {}, spread {:.1f} %", timing.runs, 100 * timing.spread);
}

void print_json(const ordered_json& json) {
  print_to(stdout, "{}\n", json.dump(2, ' ', false, ordered_json::error_handler_t::replace));
}

void add_machine(ordered_json& json, const Machine& machine) {
  json["isa"] = std::string(name_of(machine.isa));
  json["threads"] = machine.threads;
  json["processor"] = machine.processor;
}

// JSON has no infinity; nlohmann writes null for it.
void add_verdict(ordered_json& json, const OpVerdict& verdict) {
  json["max_error"] = verdict.report.max_abs_error;
  json["bound"] = verdict.bound;
  json["relative_l2"] = verdict.report.relative_l2;
  json["samples"] = verdict.report.samples;
}

void print_op_table(const ModelReport& report) {
  constexpr std::size_t kRows = 20;
  double total = 0;
  for (const OpTime& op : report.ops) {
    total += op.seconds;
  }
  print_to(stdout, "  {:>10} {:>6} {:>8} {:>7}  {}\n", "time", "share", "GF/s", "GB/s", "op");
  const std::size_t rows = std::min(kRows, report.ops.size());
  double rest = 0;
  for (std::size_t i = 0; i < report.ops.size(); ++i) {
    const OpTime& op = report.ops[i];
    if (i >= rows) {
      rest += op.seconds;
      continue;
    }
    print_to(stdout, "  {:>10} {:>5.1f}% {:>8.1f} {:>7.1f}  {} ({})\n", format_duration(op.seconds),
             100 * op.seconds / total, per_second(op.flops, op.seconds),
             per_second(op.bytes, op.seconds), op.op, op.implementation);
  }
  if (rest > 0) {
    print_to(stdout, "  {:>10} {:>5.1f}% {:>16}  {} more ops\n", format_duration(rest),
             100 * rest / total, "", report.ops.size() - rows);
  }
}

std::string why(const Declined& declined) {
  return declined.refusal.empty()
             ? fmt::format("costs {} apart, {} fused", format_duration(declined.apart_seconds),
                           format_duration(declined.fused_seconds))
             : declined.refusal;
}

}  // namespace

void print_problem(const ProblemReport& report, const Machine& machine) {
  const OpVerdict& verdict = report.verdict;
  print_to(stdout, "{}\n", report.problem);
  print_to(stdout, "  machine  {}\n", describe(machine));
  print_to(stdout, "  by       {}\n", report.implementation);
  print_to(stdout, "  check    {}: max error {:.3g} of {:.3g} allowed, {} samples\n",
           verdict.ok() ? "right" : "WRONG", verdict.report.max_abs_error, verdict.bound,
           verdict.report.samples);
  if (!verdict.ok()) {
    return;
  }
  print_to(stdout, "  time     {} ({})\n", format_duration(report.timing.median_seconds),
           describe(report.timing));
  print_to(stdout, "  rate     {:.1f} GF/s, {:.1f} GB/s\n",
           per_second(report.flops, report.timing.median_seconds),
           per_second(report.bytes, report.timing.median_seconds));
  print_to(stdout, "  memory   {} peak\n", format_bytes(report.peak_bytes));
}

void print_problem_json(const ProblemReport& report, const Machine& machine) {
  ordered_json json{{"problem", report.problem}, {"implementation", report.implementation}};
  if (report.verdict.ok()) {
    json["median_seconds"] = report.timing.median_seconds;
    json["spread"] = report.timing.spread;
    json["runs"] = report.timing.runs;
    json["gflops"] = per_second(report.flops, report.timing.median_seconds);
    json["gbytes"] = per_second(report.bytes, report.timing.median_seconds);
  }
  json["checked"] = report.verdict.ok();
  add_verdict(json, report.verdict);
  json["peak_bytes"] = report.peak_bytes;
  add_machine(json, machine);
  print_json(json);
}

void print_model(const ModelReport& report, const Machine& machine) {
  print_to(stdout, "{} at {}, t = {}\n", report.model, fmt::join(report.grid, "x"),
           report.timestep);
  print_to(stdout, "  machine  {}\n", describe(machine));
  if (const OpVerdict* worst = report.worst(); worst != nullptr) {
    print_to(stdout, "  check    {}: {} results; nearest to its bound: {}\n",
             report.ok() ? "right" : "WRONG", report.verdicts.size(), worst->describe());
  }
  if (!report.timing) {
    return;
  }
  const Timing& timing = *report.timing;
  print_to(stdout, "  time     {} ({}), {} predicted\n", format_duration(timing.median_seconds),
           describe(timing), format_duration(report.predicted_seconds));
  print_to(stdout, "  rate     {:.1f} GF/s\n", per_second(report.flops, timing.median_seconds));
  print_to(stdout, "  memory   {} peak, {} predicted\n", format_bytes(report.peak_bytes),
           format_bytes(report.predicted_peak_bytes));
  print_op_table(report);
}

void print_model_json(const ModelReport& report, const Machine& machine, Precision precision) {
  ordered_json json{{"model", report.model},
                    {"size", report.grid},
                    {"timestep", report.timestep},
                    {"precision", std::string(name_of(precision))}};
  if (report.timing) {
    json["median_seconds"] = report.timing->median_seconds;
    json["spread"] = report.timing->spread;
    json["runs"] = report.timing->runs;
    json["gflops"] = per_second(report.flops, report.timing->median_seconds);
  }
  const OpVerdict* worst = report.worst();
  json["checked"] = worst != nullptr && report.ok();
  if (worst != nullptr) {
    json["worst_op"] = worst->op;
    add_verdict(json, *worst);
    json["same_bytes"] = report.same_bytes;
  }
  json["peak_bytes"] = report.peak_bytes;
  json["predicted_peak_bytes"] = report.predicted_peak_bytes;
  json["predicted_seconds"] = report.predicted_seconds;
  add_machine(json, machine);
  json["ops"] = ordered_json::array();
  for (const OpTime& op : report.ops) {
    json["ops"].push_back({{"op", op.op},
                           {"implementation", op.implementation},
                           {"seconds", op.seconds},
                           {"gflops", per_second(op.flops, op.seconds)},
                           {"gbytes", per_second(op.bytes, op.seconds)}});
  }
  print_json(json);
}

void print_explanation(const ProgramExplanation& explanation) {
  for (const Explanation& op : explanation.ops) {
    print_to(stdout, "{} ({})\n", op.op, name_of(op.kind));
    for (const Choice& choice : op.choices) {
      print_to(stdout, "  {} {:<24} {}\n", choice.chosen ? '*' : ' ', choice.implementation,
               choice.refusal.empty()
                   ? fmt::format("yes, {} predicted", format_duration(choice.predicted_seconds))
                   : "no: " + choice.refusal);
    }
  }
  if (!explanation.unfused.empty()) {
    print_to(stdout, "\nwhat stays unfused at each step, and why\n");
  }
  for (const Unfused& unfused : explanation.unfused) {
    print_to(stdout, "{} ({}){}\n", unfused.op, name_of(unfused.kind),
             unfused.declined.empty() ? ": no convolution is beside it" : "");
    for (const Declined& declined : unfused.declined) {
      print_to(stdout, "    {}: {}\n", declined.convolution, why(declined));
    }
  }
}

void print_explanation_json(const ProgramExplanation& explanation) {
  ordered_json ops = ordered_json::array();
  for (const Explanation& op : explanation.ops) {
    ordered_json choices = ordered_json::array();
    for (const Choice& choice : op.choices) {
      ordered_json entry{{"implementation", choice.implementation},
                         {"can", choice.refusal.empty()},
                         {"chosen", choice.chosen}};
      if (choice.refusal.empty()) {
        entry["predicted_seconds"] = choice.predicted_seconds;
      } else {
        entry["refusal"] = choice.refusal;
      }
      choices.push_back(std::move(entry));
    }
    ops.push_back(
        {{"op", op.op}, {"kind", std::string(name_of(op.kind))}, {"choices", std::move(choices)}});
  }
  ordered_json unfused = ordered_json::array();
  for (const Unfused& op : explanation.unfused) {
    ordered_json declined = ordered_json::array();
    for (const Declined& by : op.declined) {
      ordered_json entry{{"convolution", by.convolution}};
      if (by.refusal.empty()) {
        entry["apart_seconds"] = by.apart_seconds;
        entry["fused_seconds"] = by.fused_seconds;
      } else {
        entry["refusal"] = by.refusal;
      }
      declined.push_back(std::move(entry));
    }
    unfused.push_back({{"op", op.op},
                       {"kind", std::string(name_of(op.kind))},
                       {"declined", std::move(declined)}});
  }
  print_json({{"ops", std::move(ops)}, {"unfused", std::move(unfused)}});
}

void print_diff(const DumpDifference& difference) {
  constexpr std::size_t kWorst = 5;
  const auto line = [](const TensorDifference& d) {
    return fmt::format("{}: relative L2 {:.3g}, max error {:.3g}{}", d.name, d.relative_l2,
                       d.max_error, d.note.empty() ? "" : " (" + d.note + ")");
  };
  if (const TensorDifference* first = difference.first(); first != nullptr) {
    print_to(stdout, "first to depart: {}\n", line(*first));
  } else {
    print_to(stdout, "no departure beyond relative L2 {:.3g}\n", difference.tolerance);
  }
  print_to(stdout, "compared: {}; only in the first file: {}; only in the second: {}\n",
           difference.tensors.size(), difference.only_in_a.size(), difference.only_in_b.size());
  print_to(stdout, "worst:\n");
  for (const TensorDifference* worst : difference.worst(kWorst)) {
    print_to(stdout, "  {}\n", line(*worst));
  }
}

void print_diff_json(const DumpDifference& difference) {
  const auto object = [](const TensorDifference& d) {
    ordered_json json{{"name", d.name}, {"relative_l2", d.relative_l2}, {"max_error", d.max_error}};
    if (!d.note.empty()) {
      json["note"] = d.note;
    }
    return json;
  };
  ordered_json json{{"tolerance", difference.tolerance}};
  const TensorDifference* first = difference.first();
  json["first"] = first != nullptr ? object(*first) : ordered_json(nullptr);
  json["tensors"] = ordered_json::array();
  for (const TensorDifference& d : difference.tensors) {
    json["tensors"].push_back(object(d));
  }
  json["only_in_a"] = difference.only_in_a;
  json["only_in_b"] = difference.only_in_b;
  print_json(json);
}

}  // namespace mezzotint::cli
