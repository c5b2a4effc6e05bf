#include "cli/tune_print.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdio>
#include <map>
#include <nlohmann/json.hpp>

#include "base/figures.h"
#include "cli/arguments.h"
#include "cli/columns.h"
#include "cli/print.h"

namespace mezzotint::cli {
namespace {

using nlohmann::ordered_json;

constexpr std::size_t kMostRows = 15;
// Of the network's time: decisions below it did not matter.
constexpr double kLeastGain = 1e-3;
constexpr std::size_t kMostLossesOfAnOp = 3;
constexpr std::size_t kMostUnconfirmed = 8;
// Where the end is not known: a line at so many, and whenever they have doubled.
constexpr unsigned kCountStep = 100;

double part(double amount, double whole) {
  return whole > 0 ? amount / whole : 0;
}

// "head  text", over several lines where it has to be; those are indented as far as the text.
void print_entry(std::string_view head, std::string_view text) {
  const std::string lines = wrap(text, head.size());
  print_to(stdout, "{}{}", head, std::string_view(lines).substr(head.size()));
}

// Paths and names may be longer than a line.
std::string fitted(std::string_view text, std::size_t indent) {
  return shorten(on_one_line(text), kColumns - indent);
}

void print_timings(const TuneReport& report) {
  const MeasuringCounts& counts = report.counts;
  if (counts.ways == 0) {
    return;  // there was no time for any
  }
  std::string text = fmt::format(
      "{} ways to compute the ops of {} lowered networks: {} from the cache, {} measured in {:.0f} "
      "s",
      counts.ways, report.networks, counts.cached, counts.measured, counts.seconds);
  if (counts.largest_spread > 0) {
    text += fmt::format(", spread of those of {:.1f} ms or more up to {:.0f} %",
                        1e3 * StopwatchOptions().matters_seconds, 100 * counts.largest_spread);
  }
  if (counts.unsteady > 0) {
    text += fmt::format(", {} unsteady", counts.unsteady);
  }
  print_entry("  timings  ", text);
  print_to(stdout, "  cache    {}\n", fitted(report.cache, 11));
  if (report.dropped_forms > 0) {
    print_to(stdout, "  left out {} forms whose conversions could not pay\n", report.dropped_forms);
  }
  const ConfirmingCounts& confirming = report.confirming;
  if (confirming.compared + confirming.cached > 0) {
    print_entry("  compared ",
                fmt::format("{} departures with the default in pairs: {} from the cache, {} now in "
                            "{:.0f} s; {} confirmed",
                            confirming.compared + confirming.cached, confirming.cached,
                            confirming.compared, confirming.seconds, confirming.confirmed));
  }
  print_entry("  choice   ",
              fmt::format("{} of {} by the timings, {}", format_duration(report.tuned_seconds),
                          format_duration(report.default_seconds),
                          report.gap == 0 ? "the optimum of the forms' pairwise model"
                                          : fmt::format("at most {:.2f} % above the optimum",
                                                        100 * report.gap)));
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
    const std::string head = fmt::format("  {:>10} {:>6.1f} %  ", format_duration(d.gain_seconds),
                                         100 * part(d.gain_seconds, report.default_seconds));
    print_to(stdout, "{}{}\n", head, fitted(d.op, head.size()));
    print_to(stdout, "{}",
             wrap(fmt::format("{} -> {}{}", d.from, d.to,
                              d.error_growth != d.growth_before
                                  ? fmt::format(" (error {:.1f} x a direct sum's, was {:.1f})",
                                                d.error_growth, d.growth_before)
                                  : ""),
                  6));
  }
  if (rows < report.decisions.size()) {
    print_to(stdout, "  and {} more, which gain less: --json lists all\n",
             report.decisions.size() - rows);
  }
}

// Those that refuse for one reason several of the ops that are shown, once for all of them.
void print_refusals(const TuneReport& report, const std::vector<std::string>& shown) {
  std::map<std::string, std::size_t> counts;
  std::vector<std::string> order;
  for (const TuneLoss& loss : report.losses) {
    if (!loss.refusal.empty() && std::ranges::count(shown, loss.op) != 0) {
      std::string text = fmt::format("{}: {}", loss.way, on_one_line(loss.refusal));
      if (++counts[text] == 1) {
        order.push_back(std::move(text));
      }
    }
  }
  if (!order.empty()) {
    print_to(stdout, "refused, of these ops\n");
  }
  for (const std::string& text : order) {
    print_entry(fmt::format("  {:>2} of {}  ", counts[text], shown.size()), text);
  }
}

// Ops of which the same is to be said, once for all of them.
struct Alike {
  std::vector<std::string> ops;
  std::string text;
};

void add_alike(std::vector<Alike>& list, const std::string& op, const std::string& text) {
  const auto same = std::ranges::find(list, text, &Alike::text);
  (same == list.end() ? list.emplace_back(Alike{{}, text}) : *same).ops.push_back(op);
}

void print_alike(const std::vector<Alike>& list) {
  for (const Alike& each : list) {
    const std::string others =
        each.ops.size() == 1 ? "" : fmt::format(" and {} like it", each.ops.size() - 1);
    print_to(stdout, "  {}{}\n{}", fitted(each.ops.front(), 2 + others.size()), others, each.text);
  }
}

// The nearest losses of an op.
std::string loss_rows(const TuneReport& report, const std::string& op) {
  std::string rows;
  std::size_t count = 0;
  for (const TuneLoss& loss : report.losses) {
    if (loss.op != op || !loss.refusal.empty() || count == kMostLossesOfAnOp) {
      continue;
    }
    ++count;
    const std::string head = fmt::format("    {:>12}  ", format_change(loss.slower_seconds));
    const std::string text =
        wrap(loss.way + (loss.unconfirmed.empty() ? "" : ", not confirmed"), head.size());
    rows += head + text.substr(head.size());
  }
  return rows;
}

void print_losses(const TuneReport& report) {
  if (report.losses.empty()) {
    return;
  }
  std::vector<std::string> ops;
  std::vector<Alike> list;
  for (const TuneLoss& loss : report.losses) {
    if (std::ranges::count(ops, loss.op) == 0) {
      ops.push_back(loss.op);
      add_alike(list, loss.op, loss_rows(report, loss.op));
    }
  }
  print_to(stdout, "what lost, of the ops that take longest\n");
  print_alike(list);
  print_refusals(report, ops);
}

void print_unconfirmed(const TuneReport& report) {
  std::vector<Alike> list;
  std::size_t rest = 0;
  for (const TuneUnconfirmed& each : report.unconfirmed) {
    if (list.size() < kMostUnconfirmed &&
        each.promised_seconds >= kLeastGain * report.default_seconds) {
      add_alike(list, each.op, wrap(fmt::format("{}: {}", each.way, each.reason), 6));
    } else {
      ++rest;
    }
  }
  if (!list.empty()) {
    print_to(stdout, "not confirmed\n");
    print_alike(list);
    if (rest > 0) {
      print_to(stdout, "  and {} more: --json lists all\n", rest);
    }
  }
}

std::vector<double> all_of(const std::vector<TuneDistance>& distances, double TuneDistance::*norm) {
  std::vector<double> values;
  for (const TuneDistance& distance : distances) {
    values.push_back(distance.*norm);
  }
  return values;
}

void print_check(const TuneReport& report) {
  for (const TunePutBack& back : report.put_back) {
    print_entry("put back   ",
                fmt::format("{} ({}): {}", on_one_line(back.op), back.from, back.reason));
  }
  if (!report.check) {
    return;
  }
  const TuneCheck& check = *report.check;
  print_entry("checked    ",
              fmt::format("on {}, distance from the strict plan", fitted(check.condition, 55)));
  const auto print_norm = [&](const char* name, double TuneDistance::*norm) {
    const std::vector<double> tuned = all_of(check.tuned, norm);
    const std::vector<double> standard = all_of(check.standard, norm);
    std::string text =
        fmt::format("{} at t = {}: ", name, fmt::join(check.timesteps, ", ")) +
        (tuned.empty() ? fmt::format("default {:.2g}", fmt::join(standard, ", "))
                       : fmt::format("{:.2g} (default {:.2g})", fmt::join(tuned, ", "),
                                     fmt::join(standard, ", "))) +
        fmt::format(", allowed {:.2g}", check.limit.*norm);
    if (check.chain) {
      text += fmt::format("; volume after {} steps: {:.2g}, allowed {:.2g}", check.chain_steps,
                          (*check.chain).*norm, check.chain_limit.*norm);
    }
    print_to(stdout, "{}", wrap(text, 2));
  };
  print_norm("relative L2", &TuneDistance::relative_l2);
  if (std::isfinite(check.limit.largest)) {
    print_norm("largest error by the largest value", &TuneDistance::largest);
  }
}

// JSON has no infinity: what is not bounded, or not finite, becomes null.
ordered_json check_json(const TuneCheck& check) {
  ordered_json json = {{"condition", check.condition},
                       {"timesteps", check.timesteps},
                       {"chain_steps", check.chain_steps},
                       {"within", check.is_within}};
  const std::pair<const char*, double TuneDistance::*> norms[] = {
      {"relative_l2", &TuneDistance::relative_l2}, {"largest", &TuneDistance::largest}};
  for (const auto& [name, norm] : norms) {
    ordered_json& found = json[name];
    found["tuned"] = all_of(check.tuned, norm);
    found["default"] = all_of(check.standard, norm);
    found["limit"] = check.limit.*norm;
    found["chain"] = check.chain ? ordered_json((*check.chain).*norm) : ordered_json();
    found["chain_limit"] = check.chain_limit.*norm;
  }
  return json;
}

ordered_json race_json(const TuneRace& race) {
  return {{"default_seconds", race.default_seconds},
          {"tuned_seconds", race.tuned_seconds},
          {"gain", race.gain},
          {"gain_interval", {race.low_gain, race.high_gain}},
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

ordered_json comparisons_json(const ConfirmingCounts& counts) {
  return {{"cached", counts.cached},
          {"compared", counts.compared},
          {"confirmed", counts.confirmed},
          {"seconds", counts.seconds}};
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
      if (!loss.unconfirmed.empty()) {
        each["not_confirmed"] = loss.unconfirmed;
      }
    } else {
      each["refused"] = loss.refusal;
    }
    json["losses"].push_back(std::move(each));
  }
  json["not_confirmed"] = ordered_json::array();
  for (const TuneUnconfirmed& each : report.unconfirmed) {
    json["not_confirmed"].push_back({{"op", each.op},
                                     {"way", each.way},
                                     {"promised_seconds", each.promised_seconds},
                                     {"reason", each.reason}});
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
  const int now = p.count > 0 ? kTenths * p.done / p.count
                              : std::bit_width(static_cast<unsigned>(p.done) / kCountStep);
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
  print_to(stdout, "{}",
           wrap(fmt::format("{} at {}, {}", on_one_line(report.model), grid_text(report.grid),
                            report.precision),
                0));
  print_entry("  machine  ",
              fmt::format("{}, {}, {} thread{}", machine.processor, name_of(machine.isa),
                          machine.threads, machine.threads == 1 ? "" : "s"));
  print_timings(report);
  print_decisions(report);
  print_losses(report);
  print_unconfirmed(report);
  print_check(report);
  if (report.race) {
    print_entry(
        "raced      ",
        fmt::format(
            "{} tuned, {} default; {:.1f} % faster in the median of {} pairs, with {:.0f} % "
            "confidence {:.1f} to {:.1f} %",
            format_duration(report.race->tuned_seconds),
            format_duration(report.race->default_seconds), 100 * report.race->gain,
            report.race->pairs, 100 * kRaceConfidence, 100 * report.race->low_gain,
            100 * report.race->high_gain));
    print_to(stdout, "predicted  {:.2f} of the default's time, found {:.2f}\n",
             part(report.tuned_seconds, report.default_seconds), 1 - report.race->gain);
  }
  for (const std::string& note : report.notes) {
    print_entry("note       ", on_one_line(note));
  }
  print_to(stdout, "{}{}\n", wrap(report.verdict, 0), on_one_line(report.out));
}

void print_tune_json(const TuneReport& report, const Machine& machine) {
  ordered_json json{{"schema", 1},
                    {"model", report.model},
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
                    {"comparisons", comparisons_json(report.confirming)},
                    {"gap", report.gap},
                    {"default_seconds", report.default_seconds},
                    {"tuned_seconds", report.tuned_seconds}};
  add_lists(json, report);
  if (report.check) {
    json["check"] = check_json(*report.check);
  }
  if (report.race) {
    json["race"] = race_json(*report.race);
    json["predicted_ratio"] = part(report.tuned_seconds, report.default_seconds);
    json["found_ratio"] = 1 - report.race->gain;
  }
  json["is_default"] = report.is_default;
  json["verdict"] = report.verdict;
  json["notes"] = report.notes;
  json["total_seconds"] = report.total_seconds;
  print_to(stdout, "{}\n", json.dump(2, ' ', false, ordered_json::error_handler_t::replace));
}

}  // namespace mezzotint::cli
