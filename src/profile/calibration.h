// What this machine attains: measured once, kept in the cache folder. Plain data.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "graph/math_unit.h"

namespace mezzotint {

// Rates further apart than this are measured again, while there is time.
inline constexpr double kRepeatCalibrationSpread = 0.10;
// Still further apart after that: the machine is too busy to say what it attains.
inline constexpr double kMostCalibrationSpread = 0.25;

struct UnitPeak {
  MathUnit unit = MathUnit::kFma;
  // FLOP/s (a multiply-add counts two; for int8 read operations). Absent: why not.
  double one_thread = 0;
  double all_threads = 0;
  std::string absent;         // "no AMX on this processor"; empty when measured
  std::string elements = {};  // "uint8 x int8 into int32"
};

struct MemoryLevel {
  std::string name;         // "L2", "L3", "DRAM"; fastest first
  std::uint64_t bytes = 0;  // of one cache; 0 for DRAM
  double one_thread = 0;    // bytes/s read and written by a streaming loop on data of that size
  double all_threads = 0;
  // Different caches of all threads' processors: hyper-threads of a core share one L2.
  int caches = 1;

  // Of all threads together; 0 for DRAM.
  [[nodiscard]] double capacity() const { return static_cast<double>(bytes) * caches; }
};

struct Calibration {
  static constexpr std::string_view kKind = "mezzotint calibration";  // of its file
  static constexpr int kSchema = 1;

  std::string processor;
  std::string isa;
  int threads = 1;
  std::string version;              // of mezzotint
  std::vector<UnitPeak> units;      // one per MathUnit
  std::vector<MemoryLevel> levels;  // those the machine has; DRAM is always the last
  // Of a parallel loop with a task for each thread that does nothing, and by how much each further
  // task makes the loop longer (all threads share them).
  double start_seconds = 0;
  double task_seconds = 0;
  double took_seconds = 0;
  // The median of the rates' relative spreads: how quiet the machine was. Nothing: one round says
  // nothing about that.
  std::optional<double> spread = 0;
  // Why levels are missing or smaller than they should be, one clause; empty: all is as it should
  // be. Not kept in files: such a calibration is not.
  std::string limited = {};

  // Whether it may stand for the machine: nothing is limited, and the spread is known and at most
  // kMostCalibrationSpread.
  [[nodiscard]] bool is_good() const;
  [[nodiscard]] const UnitPeak* find(MathUnit unit) const;  // null when absent there
};

}  // namespace mezzotint
