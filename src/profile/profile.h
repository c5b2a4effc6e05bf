// Where the time of an evaluation goes: plain data, made here, shown and compared by report/.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/perf_counters.h"
#include "graph/math_unit.h"
#include "profile/calibration.h"

namespace mezzotint {

// Over the timed runs.
struct Spread {
  double median = 0;
  double low = 0;  // quartiles
  double high = 0;

  // (high - low) / median; 0 when nothing was measured.
  [[nodiscard]] double relative() const;
};

// quantile() of base; all 0 without samples.
[[nodiscard]] Spread spread_of(std::vector<double> samples);

// What bounds an op: docs/profile.md says how it is decided.
enum class Bottleneck : std::uint8_t {
  kCompute,
  kMemoryL2,
  kMemoryL3,
  kMemoryDram,
  kConversion,  // the op only changes a layout or a type
  kOverhead,    // kernels so short that starting them is what takes time
  kImbalance,   // threads wait for the one that has most to do
};

inline constexpr std::array kAllBottlenecks = {
    Bottleneck::kCompute,    Bottleneck::kMemoryL2, Bottleneck::kMemoryL3, Bottleneck::kMemoryDram,
    Bottleneck::kConversion, Bottleneck::kOverhead, Bottleneck::kImbalance};

// "compute", "L2", "L3", "DRAM", "conversion", "overhead", "imbalance"
[[nodiscard]] std::string_view name_of(Bottleneck bottleneck);
[[nodiscard]] std::optional<Bottleneck> bottleneck_from_name(std::string_view name);

struct OpProfile {
  std::string op;
  std::string kind;   // "conv3d", "fused conv3d", "affine"
  std::string level;  // "64x64x64": the grid it works on, x, y, z; "vectors"
  std::string implementation;
  MathUnit unit = MathUnit::kFma;
  Spread seconds;
  double share = 0;               // of the sum of all ops' medians
  double flops = 0;               // of the algorithm used: Work::flops
  double direct_flops = 0;        // of the direct form, products with padding included
  double bytes = 0;               // modelled: inputs, packed weights and outputs, each once
  double attainable_seconds = 0;  // by the roofline: max of work over peak, bytes over bandwidth
  Bottleneck bottleneck = Bottleneck::kCompute;
  // Per run: parallel loops that the op opened, the tasks in them, and the time tasks ran, by
  // thread.
  double loops = 0;
  double tasks = 0;
  double kernels = 0;  // started per run: calls of a library in the tasks, or else the tasks
  std::vector<double> busy_seconds;
  double imbalance = 0;  // share of the threads' time in loops in which they had no task
  double begin = 0;      // launch and end in the last timed run, in seconds since it began
  double end = 0;
  std::optional<Counters> counters;
  std::uint64_t live_bytes = 0;  // of the arena while the op runs, its workspace included
  std::uint64_t packed_bytes = 0;

  // flops / bytes.
  [[nodiscard]] double intensity() const;
  // Sum of busy_seconds / kernels.
  [[nodiscard]] double kernel_seconds() const;
  // attainable_seconds / seconds.median.
  [[nodiscard]] double attained() const;
};

// Ops of one level and one kind.
struct GroupProfile {
  std::string level;
  std::string kind;
  int ops = 0;
  Spread seconds;    // of the sums per run
  double share = 0;  // sum of its ops' shares
  double flops = 0;
  double direct_flops = 0;
  double bytes = 0;
  double attainable_seconds = 0;
  double tasks = 0;
  Bottleneck bottleneck = Bottleneck::kCompute;  // of most of its time
};

// All ops whose work one unit does.
struct UnitWork {
  MathUnit unit = MathUnit::kFma;
  double flops = 0;
  double seconds = 0;  // of their medians
};

// Of all ops' FLOPs, and of the sum of their medians.
struct WorkShare {
  double flops = 0;
  double time = 0;
};

// One task of one thread, in the last timed run.
struct TraceSpan {
  std::uint32_t op = 0;  // index into Profile::ops
  int thread = 0;
  double begin = 0;  // seconds since the run began
  double end = 0;
};

// What would help, from the numbers alone.
struct Advice {
  std::string text;            // one sentence
  double predicted_ratio = 1;  // of the run's time afterwards to now
  std::string command;         // that tries it; may be empty
};

struct Verdict {
  std::vector<std::string> sentences;  // what bounds it, first
  std::vector<Advice> advice;          // largest predicted gain first
};

struct Profile {
  static constexpr std::string_view kKind = "mezzotint profile";
  static constexpr int kSchema = 1;

  std::string version;  // of mezzotint
  std::string model;
  std::array<std::int64_t, 3> grid{};  // x, y, z
  int timestep = 0;
  std::string precision;
  std::string plan_hash;
  std::string plan;  // name of the plan's file; empty: the default
  Calibration machine;
  int runs = 0;
  Spread seconds;          // of a whole evaluation, listened to
  Spread plain_seconds;    // of evaluations in between that nothing listened to
  double sum_seconds = 0;  // of the ops' medians
  std::uint64_t arena_bytes = 0;
  std::uint64_t packed_bytes = 0;
  std::uint64_t peak_bytes = 0;      // of the process, measured
  std::vector<OpProfile> ops;        // in the order they run
  std::vector<GroupProfile> groups;  // slowest first
  std::vector<TraceSpan> trace;
  std::vector<UnitWork> units;  // one per MathUnit, in its order
  // Of matrix units, and of narrow vector units. Nothing: this machine has no such unit.
  std::optional<WorkShare> matrix_share;
  std::optional<WorkShare> narrow_share;
  std::string counters;  // "cycles, instructions, ..." or why there are none
  Verdict verdict;
  std::vector<std::string>
      warnings;  // parts that do not sum up, listening that cost, a loaded machine

  // sum_seconds / seconds.median: within 0.95 and 1.05, or a warning says so.
  [[nodiscard]] double sum_ratio() const;
  // seconds.median / plain_seconds.median - 1.
  [[nodiscard]] double listening_cost() const;
};

}  // namespace mezzotint
