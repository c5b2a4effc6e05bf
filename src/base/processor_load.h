// What the rest of the system leaves of the processors, as Linux counts it.
#pragma once

#include <filesystem>
#include <optional>
#include <span>

namespace mezzotint {

// Seconds since the system, or this process, began. Linux counts in steps of 10 ms or so.
struct ProcessorTimes {
  double total = 0;  // of all these processors together
  double busy = 0;   // by anything, with what a hypervisor gave to other machines (steal)
  double own = 0;    // by this process
};

// Of these processors (Linux's numbers). Reads proc/stat below `root`; nothing where that does not
// tell of all of them.
[[nodiscard]] std::optional<ProcessorTimes> processor_times(
    std::span<const int> processors, const std::filesystem::path& root = "/");

// Between two readings of that many processors: how many others left, as a part of those that as
// many threads can use, from 0 to 1. Nothing where less than 0.3 s passed on each, since the steps
// are coarse.
[[nodiscard]] std::optional<double> share_left(const ProcessorTimes& before,
                                               const ProcessorTimes& after, int processors,
                                               int threads);

}  // namespace mezzotint
