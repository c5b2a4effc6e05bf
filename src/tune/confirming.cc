#include "tune/confirming.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <utility>

#include "base/cancel.h"
#include "base/error.h"
#include "base/figures.h"

namespace mezzotint {
namespace {

std::vector<TimedWay> timed_ways(const OpTable& table, const std::vector<WayId>& ids) {
  std::vector<TimedWay> ways;
  for (const WayId& id : ids) {
    ways.push_back({&table.op(id.op).graph, table.way(id).implementation});
  }
  return ways;
}

std::set<WayId> ways_of(const OpTable& table, const PlanChoice& choice) {
  std::set<WayId> ways;
  for (const auto& op : choice.ops) {
    ways.insert(way_of(table, op.second));
  }
  return ways;
}

}  // namespace

Result<PlanChoice> Confirming::choose(const OnCompared& on_compared) {
  for (;;) {
    auto chosen = choose_plan(space_, limits_);
    if (!chosen) {
      return chosen.error();
    }
    const auto is_settled = settle(*chosen, on_compared);
    if (!is_settled) {
      return is_settled.error();
    }
    if (*is_settled) {
      return chosen;
    }
  }
}

// This comes to an end: each departure is confirmed once, or one of its forms or ways is gone.
Result<bool> Confirming::settle(const PlanChoice& chosen, const OnCompared& on_compared) {
  const PlanChoice standard = default_choice(space_);
  const std::vector<Candidate> open = candidates(standard, chosen);
  const int count = judged() + static_cast<int>(open.size());
  for (const Candidate& candidate : open) {
    if (!on_compared(judged(), count)) {
      return stopped();
    }
    if (Status status = judge(candidate, options_.least_part * standard.seconds); !status) {
      return status.error();
    }
  }
  learn();
  return open.empty();
}

std::vector<Confirming::Candidate> Confirming::candidates(const PlanChoice& standard,
                                                          const PlanChoice& chosen) const {
  const OpTable& table = space_.table();
  std::vector<Candidate> open;
  for (Departure& departure : departures_of(space_, standard, chosen)) {
    std::string sides = sides_of(table, departure);
    const auto known = found_.find(sides);
    if (known == found_.end() || !known->second.is_confirmed) {
      const double promised =
          seconds_of(table, departure.standard) - seconds_of(table, departure.changed);
      open.push_back({std::move(departure), std::move(sides), promised});
    }
  }
  std::ranges::stable_sort(open, std::greater(), &Candidate::promised);
  return open;
}

Status Confirming::judge(const Candidate& candidate, double least) {
  if (candidate.promised < least) {
    refuse(candidate, fmt::format("promised {}, less than {:.2f} % of the network",
                                  format_duration(candidate.promised), 100 * options_.least_part));
    return {};
  }
  const auto found = compare(candidate);
  if (!found) {
    return found.error();
  }
  if (*found == nullptr) {
    refuse(candidate, fmt::format("promised {}, no time was left to compare",
                                  format_duration(candidate.promised)));
    return {};
  }
  Comparison& comparison = **found;
  const PairedTiming& pairs = comparison.pairs;
  const double gain = (1 - pairs.ratio) * pairs.standard_seconds;
  if (pairs.high_ratio < 1 && gain >= least) {
    counts_.confirmed += comparison.is_confirmed ? 0 : 1;
    comparison.is_confirmed = true;
    return {};
  }
  refuse(candidate,
         fmt::format("promised {}, gained {} in the median of {} pairs, {} or more in "
                     "three of four",
                     format_duration(candidate.promised), format_duration(gain), pairs.pairs,
                     format_duration((1 - pairs.high_ratio) * pairs.standard_seconds)));
  return {};
}

Result<Confirming::Comparison*> Confirming::compare(const Candidate& candidate) {
  const Departure& departure = candidate.departure;
  if (const auto known = found_.find(candidate.sides); known != found_.end()) {
    return &known->second;
  }
  if (const auto cached = cache_.find_pairs(candidate.sides)) {
    ++counts_.cached;
    return &(found_[candidate.sides] = {departure, *cached});
  }
  if (options_.stopwatch.deadline.is_over()) {
    return nullptr;
  }
  const auto start = std::chrono::steady_clock::now();
  const auto pairs = stopwatch_.compare(timed_ways(space_.table(), departure.standard),
                                        timed_ways(space_.table(), departure.changed),
                                        options_.stopwatch, cancel_);
  if (!pairs) {
    return pairs.error();
  }
  if (pairs->pairs == 0) {
    return nullptr;
  }
  counts_.seconds +=
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  ++counts_.compared;
  if (Status status = cache_.add_pairs(candidate.sides, *pairs); !status) {
    return status.error();
  }
  return &(found_[candidate.sides] = {departure, *pairs});
}

void Confirming::learn() {
  for (const auto& each : found_) {
    learn_standard(each.second.departure, each.second.pairs);
  }
  for (const bool is_confirmed : {false, true}) {
    for (const auto& each : found_) {
      if (each.second.is_confirmed == is_confirmed) {
        learn_changed(each.second.departure, each.second.pairs);
      }
    }
  }
}

void Confirming::learn_standard(const Departure& departure, const PairedTiming& pairs) {
  OpTable& table = space_.table();
  const double scale = pairs.standard_seconds / seconds_of(table, departure.standard);
  const std::set<WayId> ways(departure.standard.begin(), departure.standard.end());
  for (const WayId& id : ways) {
    if (scale < 1) {
      table.set_seconds(id, scale * table.seconds(table.way(id)));
    }
  }
}

void Confirming::learn_changed(const Departure& departure, const PairedTiming& pairs) {
  OpTable& table = space_.table();
  const std::set<WayId> kept = ways_of(table, default_choice(space_));
  std::set<WayId> own;
  double own_seconds = 0;
  double left = pairs.ratio * seconds_of(table, departure.standard);
  for (const WayId& id : departure.changed) {
    const double seconds = table.seconds(table.way(id));
    if (kept.contains(id)) {
      left -= seconds;
    } else {
      own.insert(id);
      own_seconds += seconds;
    }
  }
  // Where less than nothing is left, the default's timings do not fit together; then all stay.
  for (const WayId& id : own) {
    if (left > 0) {
      table.set_seconds(id, left / own_seconds * table.seconds(table.way(id)));
    }
  }
}

void Confirming::refuse(const Candidate& candidate, const std::string& reason) {
  const Departure& departure = candidate.departure;
  unconfirmed_.push_back({departure.op, departure.way, candidate.promised, reason});
  std::set<VariableForm> forms;  // of what is confirmed
  std::set<WayId> ways = ways_of(space_.table(), default_choice(space_));
  for (const auto& each : found_) {
    if (each.second.is_confirmed) {
      const Departure& confirmed = each.second.departure;
      forms.insert(confirmed.forms.begin(), confirmed.forms.end());
      ways.insert(confirmed.changed.begin(), confirmed.changed.end());
    }
  }
  const auto is_new_form = [&](const VariableForm& form) { return !forms.contains(form); };
  const auto is_new_way = [&](const WayId& id) { return !ways.contains(id); };
  const bool has_new_form = std::ranges::any_of(departure.forms, is_new_form);
  const auto way = std::ranges::find_if(departure.changed, is_new_way);
  if (departure.forms.empty()) {
    limits_.ways[departure.changed.front()] = reason;
    return;
  }
  if (!has_new_form && way != departure.changed.end()) {
    limits_.ways[*way] = reason;
    return;
  }
  // Of forms that meet, the dearest by itself; the others come again without it.
  limits_.forms[*std::ranges::max_element(departure.forms, {}, [&](const VariableForm& form) {
    return std::pair(is_new_form(form),
                     space_.seconds(space_.variables()[form.first].forms[form.second].ops));
  })] = reason;
}

}  // namespace mezzotint
