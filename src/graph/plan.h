// What was decided per op. Plain data, keyed by the op's name in the lowered graph: a fused
// convolution keeps its own.
#pragma once

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

// What a convolution's region may take besides its bias.
enum class Fusion : std::uint8_t {
  kNormalise,   // scale, shift and SiLU on load
  kUpsample,    // trilinear doubling on load
  kTimeVector,  // in the epilogue, as the next two
  kResidual,
  kMoments,
  kReorder,  // at its sources or its result
};

struct PlanEntry {
  std::string implementation;  // empty: the cheapest by the cost table
  // Of the activations that it reads and writes; nothing: channels-last.
  std::optional<Layout> layout = std::nullopt;
  // Convolutions only; nothing: what costs less.
  std::optional<std::set<Fusion>> fuse = std::nullopt;
};

struct Plan {
  Precision precision = Precision::kFp32;
  std::map<std::string, PlanEntry> entries;

  // The implementation that an entry asks for; empty: any.
  [[nodiscard]] std::string implementation_of(const std::string& op) const;
};

}  // namespace mezzotint
