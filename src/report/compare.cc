#include "report/compare.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "report/compare_sentences.h"

namespace mezzotint {
namespace {

double median_of(const std::optional<GroupProfile>& group) {
  return group ? group->seconds.median : 0;
}

double sum_of(const std::vector<OpProfile>& ops) {
  double sum = 0;
  for (const OpProfile& op : ops) {
    sum += op.seconds.median;
  }
  return sum;
}

// Of what explains the difference: nothing where there is none to explain.
class Shares {
 public:
  Shares(bool beyond_noise, const std::optional<TimeRatio>& ratio, double sums_difference) {
    // Ops that add up to the opposite explain nothing.
    const bool same_direction = ratio && (ratio->median > 1) == (sums_difference > 0);
    if (beyond_noise && same_direction && sums_difference != 0) {
      whole_ = sums_difference;
    }
  }
  [[nodiscard]] std::optional<double> of(double difference) const {
    return whole_ ? std::optional(difference / *whole_) : std::nullopt;
  }

 private:
  std::optional<double> whole_;
};

// Equal ones stay as they were: slowest first.
template <typename T>
void largest_first(std::vector<T>& changes) {
  std::ranges::stable_sort(changes, std::ranges::greater{},
                           [](const T& change) { return std::abs(change.difference()); });
}

std::vector<GroupChange> group_changes(const Profile& base, const Profile& other,
                                       const Shares& shares, bool noise_known) {
  std::map<std::pair<std::string, std::string>, GroupChange> changes;
  const auto place = [&](const GroupProfile& group) -> GroupChange& {
    GroupChange& change = changes[{group.level, group.kind}];
    change.level = group.level;
    change.kind = group.kind;
    return change;
  };
  for (const GroupProfile& group : base.groups) {
    place(group).base = group;
  }
  for (const GroupProfile& group : other.groups) {
    place(group).other = group;
  }
  std::vector<GroupChange> groups;
  for (auto& [key, change] : changes) {
    if (change.base && change.other) {
      change.ratio = time_ratio(change.other->seconds, change.base->seconds);
      change.beyond_noise = noise_known && change.ratio && change.ratio->excludes_one();
    }
    change.share = shares.of(change.difference());
    groups.push_back(std::move(change));
  }
  std::ranges::stable_sort(groups, std::ranges::greater{}, [](const GroupChange& group) {
    return std::max(median_of(group.base), median_of(group.other));
  });
  largest_first(groups);
  return groups;
}

// Sums by name, of both.
class Sums {
 public:
  void add_base(std::string_view name, double seconds) { at(name).base += seconds; }
  void add_other(std::string_view name, double seconds) { at(name).other += seconds; }

  [[nodiscard]] std::vector<SumChange> changes(const Shares& shares) const {
    std::vector<SumChange> changes;
    for (const auto& [name, sum] : sums_) {
      changes.push_back(sum);
      changes.back().share = shares.of(sum.difference());
    }
    std::ranges::stable_sort(changes, std::ranges::greater{}, &SumChange::base);
    largest_first(changes);
    return changes;
  }

 private:
  SumChange& at(std::string_view name) {
    SumChange& sum = sums_[std::string(name)];
    sum.name = name;
    return sum;
  }

  std::map<std::string, SumChange> sums_;
};

// An op runs once, but nothing in a file says so: ops of one name are paired in their order.
using OpsByName = std::map<std::pair<std::string_view, std::size_t>, const OpProfile*>;

OpsByName by_name(const std::vector<OpProfile>& ops) {
  std::map<std::string_view, std::size_t> seen;
  OpsByName named;
  for (const OpProfile& op : ops) {
    named[{op.op, seen[op.op]++}] = &op;
  }
  return named;
}

void compare_ops(const Profile& base, const Profile& other, const Shares& shares,
                 Difference& difference) {
  Sums kinds;
  Sums classes;
  const OpsByName others = by_name(other.ops);
  const OpsByName bases = by_name(base.ops);
  for (const auto& [key, op] : bases) {
    kinds.add_base(op->kind, op->seconds.median);
    classes.add_base(name_of(op->bottleneck), op->seconds.median);
    if (!others.contains(key)) {
      ++difference.only_base.count;
      difference.only_base.seconds += op->seconds.median;
    }
  }
  for (const auto& [key, op] : others) {
    kinds.add_other(op->kind, op->seconds.median);
    const auto paired = bases.find(key);
    if (paired == bases.end()) {
      classes.add_other(name_of(op->bottleneck), op->seconds.median);
      ++difference.only_other.count;
      difference.only_other.seconds += op->seconds.median;
      continue;
    }
    const OpProfile& before = *paired->second;
    classes.add_other(name_of(before.bottleneck), op->seconds.median);
    if (before.implementation != op->implementation || before.bottleneck != op->bottleneck) {
      difference.ops.push_back({before, *op});
    }
  }
  difference.kinds = kinds.changes(shares);
  difference.classes = classes.changes(shares);
  largest_first(difference.ops);
}

std::vector<Contrast> contrasts_of(const Profile& base, const Profile& other) {
  std::vector<Contrast> contrasts;
  const auto compare = [&](const char* what, const auto& of) {
    std::string before = of(base);
    std::string after = of(other);
    if (before != after) {
      contrasts.push_back({what, std::move(before), std::move(after)});
    }
  };
  compare("model", [](const Profile& p) { return p.model; });
  compare("size", [](const Profile& p) { return fmt::format("{}", fmt::join(p.grid, "x")); });
  compare("timestep", [](const Profile& p) { return fmt::format("{}", p.timestep); });
  compare("precision", [](const Profile& p) { return p.precision; });
  compare("plan", [](const Profile& p) {
    return fmt::format("{} ({:.12})", p.plan.empty() ? "default" : p.plan, p.plan_hash);
  });
  compare("processor", [](const Profile& p) { return p.machine.processor; });
  compare("instruction set", [](const Profile& p) { return p.machine.isa; });
  compare("threads", [](const Profile& p) { return fmt::format("{}", p.machine.threads); });
  compare("version", [](const Profile& p) { return p.version; });
  return contrasts;
}

std::optional<double> unless_zero(double value) {
  return value > 0 ? std::optional(value) : std::nullopt;
}

std::optional<double> peak_of(const Calibration& machine, MathUnit unit) {
  const UnitPeak* peak = machine.find(unit);
  return peak != nullptr ? unless_zero(peak->all_threads) : std::nullopt;
}

std::optional<double> bandwidth_of(const Calibration& machine, std::string_view level) {
  const auto found = std::ranges::find(machine.levels, level, &MemoryLevel::name);
  return found != machine.levels.end() ? unless_zero(found->all_threads) : std::nullopt;
}

std::vector<FigureChange> figure_changes(const Profile& base, const Profile& other) {
  std::vector<FigureChange> figures;
  const auto add = [&](std::string_view name, FigureUnit unit, const auto& of) {
    const std::optional<double> before = of(base);
    const std::optional<double> after = of(other);
    if (before || after) {
      figures.push_back({std::string(name), unit, before, after});
    }
  };
  using P = const Profile&;
  const auto memory = [](std::uint64_t bytes) { return unless_zero(static_cast<double>(bytes)); };
  add("ops", FigureUnit::kCount, [](P p) { return std::optional(double(p.ops.size())); });
  add("kernels started", FigureUnit::kCount, [](P p) { return std::optional(kernels_of(p)); });
  add("tasks", FigureUnit::kCount, [](P p) {
    double tasks = 0;
    for (const OpProfile& op : p.ops) {
      tasks += op.tasks;
    }
    return std::optional(tasks);
  });
  add("conversions' share", FigureUnit::kShare,
      [](P p) { return std::optional(conversion_share_of(p)); });
  const auto flops = [](const auto& share) {
    return share ? std::optional(share->flops) : std::nullopt;
  };
  const auto time = [](const auto& share) {
    return share ? std::optional(share->time) : std::nullopt;
  };
  add("matrix units' share of FLOPs", FigureUnit::kShare,
      [&](P p) { return flops(p.matrix_share); });
  add("matrix units' share of time", FigureUnit::kShare, [&](P p) { return time(p.matrix_share); });
  add("narrow vector units' share of FLOPs", FigureUnit::kShare,
      [&](P p) { return flops(p.narrow_share); });
  add("narrow vector units' share of time", FigureUnit::kShare,
      [&](P p) { return time(p.narrow_share); });
  add("arena", FigureUnit::kBytes, [&](P p) { return memory(p.arena_bytes); });
  add("packed weights", FigureUnit::kBytes, [&](P p) { return memory(p.packed_bytes); });
  add("peak of the process", FigureUnit::kBytes, [&](P p) { return memory(p.peak_bytes); });
  for (const MathUnit unit : kAllMathUnits) {
    add(name_of(unit), FigureUnit::kFlopRate, [&](P p) { return peak_of(p.machine, unit); });
  }
  for (const char* level : {"L2", "L3", "DRAM"}) {
    add(level, FigureUnit::kByteRate, [&](P p) { return bandwidth_of(p.machine, level); });
  }
  add("starting a loop", FigureUnit::kSeconds,
      [](P p) { return unless_zero(p.machine.start_seconds); });
  add("each task more", FigureUnit::kSeconds,
      [](P p) { return unless_zero(p.machine.task_seconds); });
  return figures;
}

Difference difference_of(const Profile& base, const Profile& other, const std::string& base_label,
                         const std::string& label) {
  Difference difference;
  difference.contrasts = contrasts_of(base, other);
  difference.ratio = time_ratio(other.plain_seconds, base.plain_seconds);
  const bool noise_known = std::min(base.runs, other.runs) >= kRunsForNoise;
  difference.beyond_noise = noise_known && difference.ratio && difference.ratio->excludes_one();
  difference.base_sum = sum_of(base.ops);
  difference.other_sum = sum_of(other.ops);
  const Shares shares(difference.beyond_noise, difference.ratio,
                      difference.other_sum - difference.base_sum);
  difference.groups = group_changes(base, other, shares, noise_known);
  compare_ops(base, other, shares, difference);
  difference.figures = figure_changes(base, other);
  difference.sentences = difference_sentences(difference, base_label, label);
  if (!noise_known) {
    difference.sentences.push_back(fmt::format(
        "Less than {} runs in one of them: what is noise cannot be told.", kRunsForNoise));
  }
  for (const auto& [profile, name] : {std::pair(&base, &base_label), std::pair(&other, &label)}) {
    if (!profile->warnings.empty()) {
      difference.sentences.push_back(
          fmt::format("{} warns: {}", *name, fmt::join(profile->warnings, " ")));
    }
  }
  return difference;
}

}  // namespace

std::optional<TimeRatio> time_ratio(const Spread& other, const Spread& base) {
  if (!(other.low > 0 && base.low > 0)) {
    return std::nullopt;
  }
  const TimeRatio ratio{other.median / base.median, other.low / base.high, other.high / base.low};
  return std::isfinite(ratio.high) && ratio.low > 0 ? std::optional(ratio) : std::nullopt;
}

double GroupChange::difference() const {
  return median_of(other) - median_of(base);
}

std::string_view name_of(FigureUnit unit) {
  constexpr std::string_view kNames[] = {"count", "share", "bytes", "seconds", "FLOP/s", "bytes/s"};
  return kNames[static_cast<std::size_t>(unit)];
}

std::optional<double> FigureChange::ratio() const {
  if (!(base.value_or(0) > 0 && other.value_or(0) > 0)) {
    return std::nullopt;
  }
  return *other / *base;
}

std::string compared_label(std::size_t index) {
  return std::string(1, static_cast<char>('A' + index));
}

double kernels_of(const Profile& profile) {
  double kernels = 0;
  for (const OpProfile& op : profile.ops) {
    kernels += op.kernels;
  }
  return kernels;
}

double conversion_share_of(const Profile& profile) {
  double seconds = 0;
  for (const OpProfile& op : profile.ops) {
    seconds += op.bottleneck == Bottleneck::kConversion ? op.seconds.median : 0;
  }
  const double sum = sum_of(profile.ops);
  return sum > 0 ? seconds / sum : 0;
}

Comparison compare_profiles(std::vector<NamedProfile> profiles) {
  Comparison comparison;
  for (NamedProfile& named : profiles) {
    named.profile.trace.clear();
    comparison.profiles.push_back(std::move(named));
  }
  for (std::size_t i = 1; i < comparison.profiles.size(); ++i) {
    comparison.differences.push_back(difference_of(comparison.profiles[0].profile,
                                                   comparison.profiles[i].profile,
                                                   compared_label(0), compared_label(i)));
  }
  return comparison;
}

}  // namespace mezzotint
