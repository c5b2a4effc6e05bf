// The processor's counters of cycles, instructions and cache accesses, by Linux's perf_event_open.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/descriptor.h"
#include "base/thread_team.h"
#include "mezzotint/result.h"

namespace mezzotint {

// In user mode, summed over threads. What is not known is absent, never 0.
struct Counters {
  std::optional<double> cycles;
  std::optional<double> instructions;
  std::optional<double> cache_references;
  std::optional<double> cache_misses;
};

inline constexpr std::size_t kPerfEvents = 4;  // in the order of Counters' members

// What read() returns for a group whose format is GROUP | ID | TOTAL_TIME_ENABLED |
// TOTAL_TIME_RUNNING: how long it was to count and did count, in nanoseconds, and each event's
// count.
struct PerfGroupReading {
  struct Event {
    std::uint64_t count = 0;
    std::uint64_t id = 0;
  };
  std::uint64_t time_enabled = 0;
  std::uint64_t time_running = 0;
  std::array<Event, kPerfEvents> events{};
  std::size_t size = 0;
};

// Nothing when the bytes are fewer than they say, or say more than kPerfEvents events.
[[nodiscard]] std::optional<PerfGroupReading> parse_perf_group(std::span<const std::byte> bytes);

// How much the event `id` counted from one reading of its group to a later one, scaled up when
// others had the counter for a part of that time. Nothing when it counted for none of it, or is not
// in both. A thread that did not run in between counted 0.
[[nodiscard]] std::optional<double> perf_difference(const PerfGroupReading& begin,
                                                    const PerfGroupReading& end, std::uint64_t id);

struct PerfEvent {
  std::uint32_t type;
  std::uint64_t config;
};

// Cycles, instructions, references and misses of the last cache, of the processor.
[[nodiscard]] std::array<PerfEvent, kPerfEvents> hardware_events();

// Counts on every thread of a team, from open() on. A worker that spins while it waits counts, too.
class PerfCounters {
 public:
  // One group of counters per thread. An event that some thread cannot count is left out. Fails
  // with kUnsupported when none is left: "perf_event_open: not permitted (perf_event_paranoid is
  // 3)".
  [[nodiscard]] static Result<PerfCounters> open(
      const ThreadTeam& team, const std::array<PerfEvent, kPerfEvents>& events = hardware_events());

  // "cycles, instructions": which are counted.
  [[nodiscard]] std::string names() const;

  // One per thread; nothing where the system did not answer.
  using Reading = std::vector<std::optional<PerfGroupReading>>;
  // By any thread: a system call for each thread of the team.
  [[nodiscard]] Reading read() const;
  // Between two of them.
  [[nodiscard]] Counters difference(const Reading& begin, const Reading& end) const;

 private:
  // One thread's. Closing the leader ends the group.
  struct Group {
    std::array<Descriptor, kPerfEvents> descriptors;
    std::array<std::uint64_t, kPerfEvents> ids{};
    int leader = -1;
  };

  PerfCounters() = default;
  [[nodiscard]] bool counts(std::size_t event) const;

  std::vector<Group> groups_;
};

}  // namespace mezzotint
