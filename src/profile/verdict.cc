#include "profile/verdict.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <optional>
#include <string_view>
#include <utility>

#include "base/figures.h"
#include "profile/bottleneck.h"

namespace mezzotint {
namespace {

using ClassShares = std::array<double, kAllBottlenecks.size()>;

ClassShares shares_by_class(const Profile& profile) {
  ClassShares shares{};
  for (const OpProfile& op : profile.ops) {
    shares[static_cast<std::size_t>(op.bottleneck)] += op.share;
  }
  return shares;
}

std::string count(double number, std::string_view thing) {
  return fmt::format("{:.0f} {}{}", number, thing, number == 1 ? "" : "s");
}

// As a cause of time.
std::string_view cause_of(Bottleneck bottleneck) {
  switch (bottleneck) {
    case Bottleneck::kCompute: return "Arithmetic";
    case Bottleneck::kMemoryL2: return "The bandwidth of L2";
    case Bottleneck::kMemoryL3: return "The bandwidth of L3";
    case Bottleneck::kMemoryDram: return "The bandwidth of DRAM";
    case Bottleneck::kConversion: return "Changing layouts and types";
    case Bottleneck::kOverhead: return "Starting short kernels";
    case Bottleneck::kImbalance: return "Waiting for the busiest thread";
  }
  return "";
}

double sum_over_ops(const Profile& profile, const std::function<double(const OpProfile&)>& value) {
  double sum = 0;
  for (const OpProfile& op : profile.ops) {
    sum += value(op);
  }
  return sum;
}

std::string what_bounds(const Profile& profile, const ClassShares& shares) {
  std::vector<std::pair<double, Bottleneck>> order;
  for (const Bottleneck bottleneck : kAllBottlenecks) {
    order.emplace_back(shares[static_cast<std::size_t>(bottleneck)], bottleneck);
  }
  std::ranges::stable_sort(order, std::ranges::greater{},
                           [](const auto& entry) { return entry.first; });
  std::vector<std::string> rest;
  for (std::size_t i = 1; i < order.size() && order[i].first >= kLeastSaving; ++i) {
    rest.push_back(fmt::format("{} {}", name_of(order[i].second), format_percent(order[i].first)));
  }
  std::string sentence = fmt::format("{} bounds this network here: {} of the time goes to such ops",
                                     cause_of(order[0].second), format_percent(order[0].first));
  if (!rest.empty()) {
    sentence += fmt::format(" ({})", fmt::join(rest, ", "));
  }
  if (!profile.groups.empty()) {
    const GroupProfile& slowest = profile.groups.front();
    sentence += fmt::format("; the slowest group, {} at {}, takes {}", slowest.kind, slowest.level,
                            format_percent(slowest.share));
  }
  return sentence + ".";
}

std::string what_is_attained(const Profile& profile) {
  const double attainable =
      sum_over_ops(profile, [](const OpProfile& op) { return op.attainable_seconds; });
  return fmt::format(
      "By the roofline an evaluation of these algorithms could take {}; its ops take {}, so {} is "
      "attained.",
      format_duration(attainable), format_duration(profile.sum_seconds),
      format_percent(profile.sum_seconds > 0 ? attainable / profile.sum_seconds : 0));
}

std::string what_converts(const Profile& profile, const ClassShares& shares) {
  const auto conversions = std::ranges::count(profile.ops, Bottleneck::kConversion,
                                              [](const OpProfile& op) { return op.bottleneck; });
  if (conversions == 0) {
    return "No op only converts a layout or a type.";
  }
  return fmt::format("{} of layouts and types: {} of the time.",
                     count(static_cast<double>(conversions), "conversion"),
                     format_percent(shares[static_cast<std::size_t>(Bottleneck::kConversion)]));
}

double starting_seconds(const Profile& profile) {
  return sum_over_ops(profile, [&](const OpProfile& op) {
    return std::min(start_seconds(op, profile.machine), op.seconds.median);
  });
}

std::string what_fragments(const Profile& profile) {
  const double loops = sum_over_ops(profile, [](const OpProfile& op) { return op.loops; });
  const double tasks = sum_over_ops(profile, [](const OpProfile& op) { return op.tasks; });
  const double kernels = sum_over_ops(profile, [](const OpProfile& op) { return op.kernels; });
  const double busy =
      sum_over_ops(profile, [](const OpProfile& op) { return op.kernel_seconds() * op.kernels; });
  return fmt::format(
      "{} open {} with {} and start {} of {} each on average; opening loops and handing out tasks "
      "takes {}.",
      count(static_cast<double>(profile.ops.size()), "op"), count(loops, "loop"),
      count(tasks, "task"), count(kernels, "kernel"),
      format_duration(kernels > 0 ? busy / kernels : 0),
      format_percent(starting_seconds(profile) / profile.sum_seconds));
}

std::string share_text(const std::optional<WorkShare>& share) {
  return share ? fmt::format("{} of the operations in {} of the time", format_percent(share->flops),
                             format_percent(share->time))
               : "no such unit on this machine";
}

std::string what_units_do(const Profile& profile) {
  return fmt::format("Matrix units (AMX): {}; narrow vector units (AVX-512-BF16, VNNI): {}.",
                     share_text(profile.matrix_share), share_text(profile.narrow_share));
}

// Every function below predicts one change; nothing where it does not apply.
class Adviser {
 public:
  Adviser(const Profile& profile, const VerdictContext& context, const ClassShares& shares)
      : profile_(profile), context_(context), shares_(shares) {}

  std::vector<Advice> advice() const {
    std::vector<Advice> all;
    for (auto advice : {better_kernels(), no_conversions(), no_waiting(), no_starts(), threads(),
                        fast_precision()}) {
      if (advice && advice->predicted_ratio <= 1 - kLeastSaving) {
        all.push_back(std::move(*advice));
      }
    }
    std::ranges::stable_sort(all, {}, [](const Advice& advice) { return advice.predicted_ratio; });
    return all;
  }

 private:
  [[nodiscard]] double ratio_after(const std::function<double(const OpProfile&)>& seconds) const {
    return sum_over_ops(profile_, seconds) / profile_.sum_seconds;
  }

  // Empty with a plan, which is what tuning has come to.
  [[nodiscard]] std::string tune() const {
    if (!profile_.plan.empty()) {
      return "";
    }
    return fmt::format("mezzotint tune {} --precision {} --threads {} --out plan.json",
                       context_.words, profile_.precision, profile_.machine.threads);
  }

  [[nodiscard]] std::string profile_with(std::string_view precision, int threads) const {
    return fmt::format("mezzotint profile {} --precision {} --timestep {} --threads {}",
                       context_.words, precision, profile_.timestep, threads);
  }

  // Ops far below the roofline, done as well as the best op of their implementation
  // and class: another algorithm has other limits (Winograd adds much and multiplies little).
  [[nodiscard]] std::optional<Advice> better_kernels() const {
    std::map<std::pair<std::string_view, Bottleneck>, double> best;
    for (const OpProfile& op : profile_.ops) {
      double& attained = best[{op.implementation, op.bottleneck}];
      attained = std::max(attained, std::min(op.attained(), 1.0));
    }
    int slow = 0;
    const double ratio = ratio_after([&](const OpProfile& op) {
      const double attained = best.at({op.implementation, op.bottleneck});
      if (op.attained() >= kGoodAttained || op.attained() <= 0) {
        return op.seconds.median;
      }
      ++slow;
      return std::min(op.attainable_seconds / attained, op.seconds.median);
    });
    return Advice{
        fmt::format(
            "{} below {} of the roofline: as good as the best of their implementation, they "
            "save {}.",
            count(slow, "op"), format_percent(kGoodAttained), format_percent(1 - ratio)),
        ratio, tune()};
  }

  [[nodiscard]] std::optional<Advice> no_conversions() const {
    const double share = shares_[static_cast<std::size_t>(Bottleneck::kConversion)];
    return Advice{fmt::format("Layouts that agree, so that nothing is converted, save {}.",
                              format_percent(share)),
                  1 - share, tune()};
  }

  [[nodiscard]] std::optional<Advice> no_waiting() const {
    const double ratio =
        ratio_after([](const OpProfile& op) { return op.seconds.median * (1 - op.imbalance); });
    return Advice{fmt::format("Threads that never wait for each other within an op save {}.",
                              format_percent(1 - ratio)),
                  ratio, ""};
  }

  [[nodiscard]] std::optional<Advice> no_starts() const {
    const double share = starting_seconds(profile_) / profile_.sum_seconds;
    return Advice{fmt::format("Fewer and longer kernels, up to starts that cost nothing, save {}.",
                              format_percent(share)),
                  1 - share, tune()};
  }

  // What DRAM bounds gains nothing; neither do starts, or an op that one thread computes.
  [[nodiscard]] std::optional<Advice> threads() const {
    const int now = profile_.machine.threads;
    if (context_.available_threads <= now) {
      return std::nullopt;
    }
    const double faster = static_cast<double>(now) / context_.available_threads;
    const double ratio = ratio_after([&](const OpProfile& op) {
      const double fixed = op.bottleneck == Bottleneck::kMemoryDram || op.loops == 0
                               ? op.seconds.median
                               : std::min(start_seconds(op, profile_.machine), op.seconds.median);
      return fixed + (op.seconds.median - fixed) * faster;
    });
    return Advice{fmt::format("All {} threads save {}.", context_.available_threads,
                              format_percent(1 - ratio)),
                  ratio, profile_with(profile_.precision, context_.available_threads)};
  }

  // Convolutions in their direct form on the bf16 unit that --precision fast takes, as near to its
  // peak as the best convolution is to its own. Nothing where that unit is no faster than
  // float32's, as AVX-512-BF16 on some processors.
  [[nodiscard]] std::optional<Advice> fast_precision() const {
    const UnitPeak* unit = profile_.machine.find(MathUnit::kAmxBf16);
    if (unit == nullptr) {
      unit = profile_.machine.find(MathUnit::kAvx512Bf16);
    }
    const UnitPeak* fma = profile_.machine.find(MathUnit::kFma);
    const double float32 = fma == nullptr ? 0 : fma->all_threads;
    if (profile_.precision == "fast" || unit == nullptr || unit->all_threads <= float32) {
      return std::nullopt;
    }
    const auto is_convolution = [](const OpProfile& op) {
      return op.kind.ends_with("conv3d") && op.bottleneck == Bottleneck::kCompute;
    };
    double best = 0;
    for (const OpProfile& op : profile_.ops) {
      best = is_convolution(op) ? std::max(best, std::min(op.attained(), 1.0)) : best;
    }
    const double ratio = ratio_after([&](const OpProfile& op) {
      const double fast = op.direct_flops / (unit->all_threads * best);
      return is_convolution(op) ? std::min(fast, op.seconds.median) : op.seconds.median;
    });
    return Advice{fmt::format("Convolutions with bf16 operands on {} save {}.", name_of(unit->unit),
                              format_percent(1 - ratio)),
                  ratio, profile_with("fast", profile_.machine.threads)};
  }

  const Profile& profile_;
  const VerdictContext& context_;
  const ClassShares& shares_;
};

}  // namespace

Verdict verdict_of(const Profile& profile, const VerdictContext& context) {
  if (!(profile.sum_seconds > 0)) {
    return {};
  }
  const ClassShares shares = shares_by_class(profile);
  Verdict verdict{{what_bounds(profile, shares), what_is_attained(profile),
                   what_converts(profile, shares), what_fragments(profile), what_units_do(profile)},
                  Adviser(profile, context, shares).advice()};
  if (!context.caveat.empty()) {
    verdict.sentences.insert(verdict.sentences.begin(), context.caveat);
  }
  return verdict;
}

}  // namespace mezzotint
