#include "cli/tune_print.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "cli/arguments.h"
#include "cli/print.h"

namespace mezzotint::cli {
namespace {

using nlohmann::ordered_json;

constexpr std::size_t kMostRows = 15;
// Of the network's time: decisions below it did not matter.
constexpr double kLeastGain = 1e-3;
constexpr std::size_t kMostOpsWithLosses = 4;
constexpr std::size_t kMostLossesOfAnOp = 3;
// What is not known of beforehand is counted in such steps.
constexpr int kCountStep = 100;

std::string milliseconds(double seconds) {
  return fmt::format("{:.2f} ms", seconds * 1e3);
}

double part(double amount, double whole) {
  return whole > 0 ? amount / whole : 0;
}

void print_timings(const TuneReport& report) {
  const MeasuringCounts& counts = report.counts;
  print_to(stdout,
           "  timings  {} ways to compute the ops of {} lowered networks: {} from the cache, {} "
           "measured in {:.0f} s",
           counts.ways, report.networks, counts.cached, counts.measured, counts.seconds);
  if (counts.measured > 0) {
    print_to(stdout, ", spread up to {:.0f} %", 100 * counts.largest_spread);
  }
  if (counts.unsteady > 0) {
    print_to(stdout, ", {} unsteady", counts.unsteady);
  }
  print_to(stdout, "\n  cache    {}\n", on_one_line(report.cache));
  if (report.dropped_forms > 0) {
    print_to(stdout, "  left out {} forms whose conversions could not pay\n", report.dropped_forms);
  }
  print_to(stdout, "  choice   {} of {} by the timings, {}\n", milliseconds(report.tuned_seconds),
           milliseconds(report.default_seconds),
           report.gap == 0 ? "the optimum"
                           : fmt::format("at most {:.2f} % above the optimum", 100 * report.gap));
}

void print_decisions(const TuneReport& report) {
  if (report.decisions.empty()) {
    return;
  }
  print_to(stdout, "decisions\n");
  std::size_t rows = 0;
  for (const TuneDecision& d : report.decisions) {
    if (rows == kMostRows || d.gain_seconds < kLeastGain * report.default_seconds) {
      break;
    }
    ++rows;
    print_to(stdout, "  {:>10} {:>6.1f} %  {}\n", milliseconds(d.gain_seconds),
             100 * part(d.gain_seconds, report.default_seconds), on_one_line(d.op));
    print_to(stdout, "      {} -> {}{}\n", d.from, d.to,
             d.error_growth != d.growth_before
                 ? fmt::format(" (error {:.1f} x a direct sum's, was {:.1f})", d.error_growth,
                               d.growth_before)
                 : "");
  }
  if (rows < report.decisions.size()) {
    print_to(stdout, "  and {} more, which gain less: --json lists all\n",
             report.decisions.size() - rows);
  }
}

void print_losses(const TuneReport& report) {
  if (report.losses.empty()) {
    return;
  }
  print_to(stdout, "what lost, of the ops that take longest\n");
  std::string op;
  std::size_t ops = 0;
  std::size_t rows = 0;
  for (const TuneLoss& loss : report.losses) {
    if (loss.op != op) {
      if (ops++ == kMostOpsWithLosses) {
        break;
      }
      op = loss.op;
      rows = 0;
      print_to(stdout, "  {}\n", on_one_line(op));
    }
    if (!loss.refusal.empty()) {
      print_to(stdout, "    {:>12}  {}: {}\n", "refused", loss.way, on_one_line(loss.refusal));
    } else if (rows++ < kMostLossesOfAnOp) {
      print_to(stdout, "    {:>12}  {}\n", fmt::format("+{}", milliseconds(loss.slower_seconds)),
               loss.way);
    }
  }
}

void print_check(const TuneReport& report) {
  for (const TunePutBack& back : report.put_back) {
    print_to(stdout, "put back   {} ({}): {}\n", on_one_line(back.op), back.from, back.reason);
  }
  if (!report.check) {
    return;
  }
  const TuneCheck& check = *report.check;
  print_to(stdout, "checked    on {}, relative L2 from the strict plan\n",
           on_one_line(check.condition));
  print_to(stdout, "  t = {}: {:.2g} (default {:.2g}), allowed {:.2g}\n",
           fmt::join(check.timesteps, ", "), fmt::join(check.tuned, ", "),
           fmt::join(check.standard, ", "), check.limit);
  print_to(stdout, "  volume after {} steps: {:.2g}, allowed {:.2g}\n", check.chain_steps,
           check.chain, check.chain_limit);
}

ordered_json check_json(const TuneCheck& check) {
  return {{"condition", check.condition},
          {"timesteps", check.timesteps},
          {"relative_l2", check.tuned},
          {"default_relative_l2", check.standard},
          {"limit", check.limit},
          {"chain_steps", check.chain_steps},
          {"chain_relative_l2", check.chain},
          {"chain_limit", check.chain_limit},
          {"within", check.is_within}};
}

ordered_json race_json(const TuneRace& race) {
  return {{"default_seconds", race.default_seconds},
          {"tuned_seconds", race.tuned_seconds},
          {"gain_quartiles", {race.low_gain, race.high_gain}},
          {"pairs", race.pairs}};
}

ordered_json timings_json(const TuneReport& report) {
  const MeasuringCounts& counts = report.counts;
  return {{"ways", counts.ways},
          {"cached", counts.cached},
          {"measured", counts.measured},
          {"predicted", counts.predicted()},
          {"unsteady", counts.unsteady},
          {"seconds", counts.seconds},
          {"spread", counts.largest_spread}};
}

void add_lists(ordered_json& json, const TuneReport& report) {
  json["decisions"] = ordered_json::array();
  for (const TuneDecision& d : report.decisions) {
    json["decisions"].push_back({{"op", d.op},
                                 {"from", d.from},
                                 {"to", d.to},
                                 {"gain_seconds", d.gain_seconds},
                                 {"gain", part(d.gain_seconds, report.default_seconds)},
                                 {"error_growth", d.error_growth},
                                 {"error_growth_before", d.growth_before}});
  }
  json["losses"] = ordered_json::array();
  for (const TuneLoss& loss : report.losses) {
    ordered_json each{{"op", loss.op}, {"way", loss.way}};
    if (loss.refusal.empty()) {
      each["slower_seconds"] = loss.slower_seconds;
    } else {
      each["refused"] = loss.refusal;
    }
    json["losses"].push_back(std::move(each));
  }
  json["put_back"] = ordered_json::array();
  for (const TunePutBack& back : report.put_back) {
    json["put_back"].push_back({{"op", back.op}, {"from", back.from}, {"reason", back.reason}});
  }
}

}  // namespace

TuneScreen::TuneScreen() : terminal_(::isatty(STDERR_FILENO) != 0) {}

void TuneScreen::show(const TuneProgress& p) {
  constexpr int kTenths = 10;
  constexpr int kWidth = 30;
  const int now = p.count > 0 ? kTenths * p.done / p.count : p.done / kCountStep;
  if (p.stage == stage_ && now == shown_ && !(terminal_ && p.count > 0)) {
    return;
  }
  const std::string numbers = p.count > 0 ? fmt::format("{} {}/{}", p.stage, p.done, p.count)
                                          : fmt::format("{} {}", p.stage, p.done);
  if (!terminal_) {
    print_to(stderr, "{}\n", numbers);
  } else {
    if (p.stage != stage_) {
      close();
    }
    const std::size_t done =
        p.count > 0 ? static_cast<std::size_t>(kWidth * std::min(p.done, p.count) / p.count) : 0;
    print_to(stderr, "\r[{}{}] {}\033[K", std::string(done, '#'), std::string(kWidth - done, '.'),
             numbers);
    std::fflush(stderr);
    open_line_ = true;
  }
  stage_ = p.stage;
  shown_ = now;
}

void TuneScreen::close() {
  if (open_line_) {
    print_to(stderr, "\n");
  }
  open_line_ = false;
}

void print_tune(const TuneReport& report, const Machine& machine) {
  print_to(stdout, "{} at {}, {}\n", on_one_line(report.model), grid_text(report.grid),
           report.precision);
  print_to(stdout, "  machine  {}, {}, {} thread{}\n", machine.processor, name_of(machine.isa),
           machine.threads, machine.threads == 1 ? "" : "s");
  print_timings(report);
  print_decisions(report);
  print_losses(report);
  print_check(report);
  if (report.race) {
    print_to(stdout,
             "raced      {} tuned, {} default, {} pairs; quartiles of the gain {:.1f} and "
             "{:.1f} %\n",
             milliseconds(report.race->tuned_seconds), milliseconds(report.race->default_seconds),
             report.race->pairs, 100 * report.race->low_gain, 100 * report.race->high_gain);
    print_to(stdout, "predicted  {} tuned, {} default, as sums of the timings\n",
             milliseconds(report.tuned_seconds), milliseconds(report.default_seconds));
  }
  for (const std::string& note : report.notes) {
    print_to(stdout, "note       {}\n", on_one_line(note));
  }
  print_to(stdout, "{}\n{}\n", report.verdict, on_one_line(report.out));
}

void print_tune_json(const TuneReport& report, const Machine& machine) {
  ordered_json json{{"model", report.model},
                    {"grid", report.grid},
                    {"precision", report.precision},
                    {"isa", std::string(name_of(machine.isa))},
                    {"threads", machine.threads},
                    {"processor", machine.processor},
                    {"out", report.out},
                    {"cache", report.cache},
                    {"timings", timings_json(report)},
                    {"lowered", report.networks},
                    {"left_out", report.dropped_forms},
                    {"gap", report.gap},
                    {"default_seconds", report.default_seconds},
                    {"tuned_seconds", report.tuned_seconds}};
  add_lists(json, report);
  if (report.check) {
    json["check"] = check_json(*report.check);
  }
  if (report.race) {
    json["race"] = race_json(*report.race);
  }
  json["is_default"] = report.is_default;
  json["verdict"] = report.verdict;
  json["notes"] = report.notes;
  json["total_seconds"] = report.total_seconds;
  print_to(stdout, "{}\n", json.dump(2, ' ', false, ordered_json::error_handler_t::replace));
}

}  // namespace mezzotint::cli
