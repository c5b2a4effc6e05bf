// Measures what this machine attains. docs/profile.md says how, and what that cannot know.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string_view>

#include "backend/backend.h"
#include "base/thread_team.h"
#include "graph/machine.h"
#include "mezzotint/cancel.h"
#include "mezzotint/result.h"
#include "profile/calibration.h"

namespace mezzotint {

struct CalibrationEffort {
  double run_seconds = 0.04;  // of one run of one probe
  int rounds = 7;  // in each of which every probe runs once; up to kMostRepetitions times as many
                   // while the rates spread by more than kRepeatCalibrationSpread
  double most_seconds = 50;                   // no further round begins that would end later
  std::uint64_t most_available = UINT64_MAX;  // what counts as available memory, at most
  // Memory that the probes may take. A level that does not fit is left out, and DRAM is measured
  // over less while that is twice the caches: Calibration::limited says so.
  std::uint64_t most_bytes = UINT64_MAX;
  std::string_view root = "/";  // below which the system describes its caches

  static constexpr int kMostRepetitions = 3;
  // Of a run of a unit's probe, all threads at once in each: 2.5 ms, less than others' work takes
  // a processor away for.
  static constexpr int kUnitPieces = 16;
};

// About ten seconds with the default effort. The figures are medians over the rounds, those of
// units the best of all pieces: what disturbs a loop in registers only takes from it, and no kernel
// may attain more than its peak. kResource when there is no memory to stream through, kCancelled
// when the token was set, which each probe looks at before it runs.
[[nodiscard]] Result<Calibration> calibrate(const Backend& backend, const Machine& machine,
                                            const ThreadTeam& team,
                                            const CancelToken* cancel = nullptr,
                                            const CalibrationEffort& effort = {});

// How many bytes the probe of each level goes through with that many threads. A level that cannot
// be told from the one before is 0.
struct StreamSizes {
  std::uint64_t l2 = 0;
  std::uint64_t l3 = 0;
  std::uint64_t dram = 0;
};

// What the sizes follow from.
struct MemoryShape {
  std::uint64_t l2_bytes = 0;  // of one cache
  int l2_count = 1;
  std::uint64_t l3_bytes = 0;  // of one cache; 0: none
  int l3_count = 0;
  std::uint64_t available_bytes = 0;
};

// Of the caches of these processors, as the system below `root` describes them.
[[nodiscard]] MemoryShape memory_shape(const Machine& machine, std::span<const int> processors,
                                       const std::filesystem::path& root = "/");

[[nodiscard]] StreamSizes stream_sizes(const MemoryShape& memory, int threads);

}  // namespace mezzotint
