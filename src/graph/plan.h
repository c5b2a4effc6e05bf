// What was decided per op. Plain data, keyed by the op's name in the lowered graph: a fused
// convolution keeps its own. What is fused into one has no entry, unless for its layout alone.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "graph/types.h"
#include "mezzotint/result.h"

namespace mezzotint {

// What kernels may do to a float32 computation: docs/precision.md.
enum class Precision { kStrict, kFp32, kFast };

inline constexpr Precision kAllPrecisions[] = {Precision::kStrict, Precision::kFp32,
                                               Precision::kFast};

[[nodiscard]] std::string_view name_of(Precision precision);
// kInvalidInput names the known ones.
Result<Precision> precision_from_name(std::string_view name);

// What a convolution's region may take besides its bias. What is done on load, it takes from all of
// its sources that have it, or from none.
enum class Fusion : std::uint8_t {
  kConcat,     // its sources, each by itself
  kNormalise,  // scale, shift and SiLU on load
  kUpsample,   // trilinear doubling on load
  kReorderIn,  // other layouts on load
  kTimeVector,
  kResidual,
  kReorderOut,  // another layout of its result
  kMoments,
};

inline constexpr Fusion kAllFusions[] = {
    Fusion::kConcat,     Fusion::kNormalise, Fusion::kUpsample,   Fusion::kReorderIn,
    Fusion::kTimeVector, Fusion::kResidual,  Fusion::kReorderOut, Fusion::kMoments};

using Fusions = std::set<Fusion>;

// "concat", "normalise", "upsample", "reorder-in", "time-vector", "residual", "reorder-out",
// "moments"
[[nodiscard]] std::string_view name_of(Fusion fusion);
[[nodiscard]] std::optional<Fusion> fusion_from_name(std::string_view name);
// "normalise, residual"; "nothing".
[[nodiscard]] std::string describe(const Fusions& fusions);

struct PlanEntry {
  std::string implementation = {};  // empty: the cheapest by the cost table
  // Of the activations that it reads and writes; nothing: the plan's. Where no implementation takes
  // row-major ones, it runs channels-last between two reorders.
  std::optional<Layout> layout = std::nullopt;
  // Convolutions only, exactly these; nothing: what costs less, or in row-major order nothing.
  std::optional<Fusions> fuse = std::nullopt;

  friend bool operator==(const PlanEntry&, const PlanEntry&) = default;
};

// Where a plan comes from, for who is told that it cannot be obeyed.
struct PlanSource {
  std::string file = {};   // empty: made in this process
  std::string again = {};  // the command that makes another for this run
};

struct Plan {
  Precision precision = Precision::kFp32;
  Layout layout = Layout::kChannelsLast;  // of ops whose entry names none
  std::map<std::string, PlanEntry> entries = {};
  PlanSource source = {};

  // What is asked of an op. The implementation; empty: any.
  [[nodiscard]] std::string implementation_of(const std::string& op) const;
  [[nodiscard]] Layout layout_of(const std::string& op) const;
  // Of a convolution; nothing: what costs less.
  [[nodiscard]] std::optional<Fusions> fusions_of(const std::string& op) const;

  // "plan.json: op eps cannot ...: leave that out, or make another with mezzotint tune ...": names
  // the file, if there is one, and what can be done besides `remedy` (may be empty).
  [[nodiscard]] Error refusal(ErrorCode code, std::string_view problem,
                              std::string_view remedy = {}) const;

 private:
  [[nodiscard]] const PlanEntry* find(const std::string& op) const;
};

}  // namespace mezzotint
