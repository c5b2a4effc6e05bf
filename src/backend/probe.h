// What a device's units and memory attain at best: loops that compute nothing of use, for
// calibration.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/thread_team.h"
#include "graph/machine.h"
#include "graph/math_unit.h"

namespace mezzotint {

// One unit, kept busy from registers. Stateless.
class UnitProbe {
 public:
  virtual ~UnitProbe() = default;

  [[nodiscard]] virtual MathUnit unit() const = 0;
  // What it multiplies and sums: "uint8 x int8 into int32".
  [[nodiscard]] virtual std::string_view elements() const = 0;
  // Why it cannot run here, one clause; nothing means it can.
  [[nodiscard]] virtual std::optional<std::string> refusal(const Machine& machine) const = 0;
  // Runs on all threads of the team for about `seconds`. Returns the operations per second of all
  // together; a multiplication and an addition are two. Call only without a refusal.
  [[nodiscard]] virtual double run(const Machine& machine, const ThreadTeam& team,
                                   double seconds) const = 0;
};

// Memory, read and written in order: y = a + s * b over three arrays. Stateless.
class StreamProbe {
 public:
  virtual ~StreamProbe() = default;

  // Each thread goes through its own part of `memory`, a third of which is written, for about
  // `seconds`, and at least once, unless that takes more than ten times as long. `memory` is
  // aligned to 64 bytes, holds at least kLeastFloats per thread, and has been written to. Returns
  // the bytes per second of all threads together, each element read or written once counted once:
  // that a store first brings its line in is not counted, as it is not in the bytes of an op.
  [[nodiscard]] virtual double run(const Machine& machine, const ThreadTeam& team,
                                   std::span<float> memory, double seconds) const = 0;

  static constexpr std::size_t kLeastFloats = 4096;
};

struct Probes {
  std::span<const UnitProbe* const> units;
  const StreamProbe* stream = nullptr;  // null when the device has none
};

}  // namespace mezzotint
