// Profiles against the first of them: how the times compare, and what explains the difference.
// docs/profile.md says the same in words.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "profile/profile.h"

namespace mezzotint {

// As many as there are letters for on a terminal's line.
inline constexpr std::size_t kMostCompared = 16;
// Quartiles of fewer runs say nothing about noise.
inline constexpr int kRunsForNoise = 3;

struct NamedProfile {
  std::string name;  // of its file
  Profile profile;
};

// Of a time to the base's. The interval is that of the quartiles: the other's low to the base's
// high, and the reverse.
struct TimeRatio {
  double median = 1;
  double low = 1;
  double high = 1;

  // 1 is outside.
  [[nodiscard]] bool excludes_one() const { return low > 1 || high < 1; }
};

// Nothing where one of the quartiles is 0, or the ratio no finite number.
[[nodiscard]] std::optional<TimeRatio> time_ratio(const Spread& other, const Spread& base);

// Ops of one level and kind. What is only in one of the two has no ratio.
struct GroupChange {
  std::string level;
  std::string kind;
  std::optional<GroupProfile> base;
  std::optional<GroupProfile> other;
  std::optional<TimeRatio> ratio;
  bool beyond_noise = false;
  std::optional<double> share;  // of the difference of the sums

  // Of medians, in seconds.
  [[nodiscard]] double difference() const;
};

// Sums of ops' medians.
struct SumChange {
  std::string name;  // of a kind, or of a class of bottleneck
  double base = 0;
  double other = 0;
  std::optional<double> share;  // of the difference of the sums

  [[nodiscard]] double difference() const { return other - base; }
};

// An op of both that another implementation computes, or that something else bounds.
struct OpChange {
  OpProfile base;
  OpProfile other;

  [[nodiscard]] double difference() const { return other.seconds.median - base.seconds.median; }
};

enum class FigureUnit : std::uint8_t { kCount, kShare, kBytes, kSeconds, kFlopRate, kByteRate };
// "count", "share", "bytes", "seconds", "FLOP/s", "bytes/s"
[[nodiscard]] std::string_view name_of(FigureUnit unit);

// Nothing: not measured, or no such unit or level there.
struct FigureChange {
  std::string name;
  FigureUnit unit = FigureUnit::kCount;
  std::optional<double> base;
  std::optional<double> other;

  // Nothing unless both are there and above 0.
  [[nodiscard]] std::optional<double> ratio() const;
};

// What makes them no two measurements of one thing.
struct Contrast {
  std::string what;  // "model", "size", "threads", ...
  std::string base;
  std::string other;
};

// Ops that only one of the two has.
struct LoneOps {
  std::size_t count = 0;
  double seconds = 0;  // sum of their medians
};

// One profile against the base.
struct Difference {
  std::vector<std::string> sentences;  // the first: how much, and which groups
  std::vector<Contrast> contrasts;
  std::optional<TimeRatio> ratio;  // of evaluations that nothing listened to
  bool beyond_noise = false;       // so many runs that it can be told, and 1 outside
  double base_sum = 0;             // of the ops' medians
  double other_sum = 0;
  std::vector<GroupChange> groups;  // largest change first, as all below
  std::vector<SumChange> kinds;     // add up to the difference of the sums
  std::vector<SumChange> classes;   // too: an op of both counts in its class in the base
  std::vector<OpChange> ops;
  LoneOps only_base;
  LoneOps only_other;
  std::vector<FigureChange> figures;  // work, memory, the machine
};

struct Comparison {
  // Of its file, in which plans may be compared, too.
  static constexpr std::string_view kKind = "mezzotint comparison";
  static constexpr int kSchema = 1;

  std::vector<NamedProfile> profiles;   // the base first; without their traces
  std::vector<Difference> differences;  // of profiles[1] and so on
};

// "A" for the base, "B", ...
[[nodiscard]] std::string compared_label(std::size_t index);

// That the ops started in an evaluation.
[[nodiscard]] double kernels_of(const Profile& profile);
// What ops of class conversion take of the ops' sum.
[[nodiscard]] double conversion_share_of(const Profile& profile);

// 2 to kMostCompared profiles as read_profile() gives them.
[[nodiscard]] Comparison compare_profiles(std::vector<NamedProfile> profiles);

}  // namespace mezzotint
