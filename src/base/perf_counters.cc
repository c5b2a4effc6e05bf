#include "base/perf_counters.h"

#include <linux/perf_event.h>
#include <omp.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <string_view>
#include <utility>

#include "base/error.h"

namespace mezzotint {
namespace {

constexpr std::array<std::string_view, kPerfEvents> kNames = {"cycles", "instructions",
                                                              "cache references", "cache misses"};

std::uint64_t word(std::span<const std::byte> bytes, std::size_t index) {
  std::uint64_t value = 0;
  std::memcpy(&value, bytes.data() + index * sizeof(value), sizeof(value));
  return value;
}

// Of a thread, on whatever processor it runs; user mode alone, which perf_event_paranoid 2 permits.
Descriptor open_event(const PerfEvent& event, int thread, int leader) {
  perf_event_attr attributes{};
  attributes.size = sizeof(attributes);
  attributes.type = event.type;
  attributes.config = event.config;
  attributes.exclude_kernel = 1;
  attributes.exclude_hv = 1;
  attributes.read_format = PERF_FORMAT_GROUP | PERF_FORMAT_ID | PERF_FORMAT_TOTAL_TIME_ENABLED |
                           PERF_FORMAT_TOTAL_TIME_RUNNING;
  constexpr int kAnyProcessor = -1;
  const long descriptor = ::syscall(SYS_perf_event_open, &attributes, thread, kAnyProcessor, leader,
                                    PERF_FLAG_FD_CLOEXEC);
  return Descriptor(static_cast<int>(descriptor));
}

std::string reason_of(int failure) {
  switch (failure) {
    case EACCES:
    case EPERM: {
      std::ifstream file("/proc/sys/kernel/perf_event_paranoid");
      std::string level;
      std::getline(file, level);
      return fmt::format("not permitted (perf_event_paranoid is {})",
                         level.empty() ? "unknown" : level);
    }
    case ENOENT:
    case ENODEV:
    case EOPNOTSUPP: return "no such counter on this machine";
    case ENOSYS: return "this system has none";
    default: return std::strerror(failure);
  }
}

// Linux's numbers of the team's threads.
std::vector<int> thread_numbers(const ThreadTeam& team) {
  std::vector<int> numbers(static_cast<std::size_t>(team.size()));
#pragma omp parallel num_threads(team.size())
  numbers[static_cast<std::size_t>(omp_get_thread_num())] = static_cast<int>(::syscall(SYS_gettid));
  return numbers;
}

}  // namespace

std::optional<PerfGroupReading> parse_perf_group(std::span<const std::byte> bytes) {
  // Count of events, time enabled, time running, then value and id of each.
  constexpr std::size_t kHeaderWords = 3;
  const std::size_t words = bytes.size() / sizeof(std::uint64_t);
  if (words < kHeaderWords) {
    return std::nullopt;
  }
  const std::uint64_t size = word(bytes, 0);
  if (size > kPerfEvents || words < kHeaderWords + 2 * size) {
    return std::nullopt;
  }
  PerfGroupReading reading;
  reading.time_enabled = word(bytes, 1);
  reading.time_running = word(bytes, 2);
  reading.size = static_cast<std::size_t>(size);
  for (std::size_t i = 0; i < reading.size; ++i) {
    reading.events[i] = {word(bytes, kHeaderWords + 2 * i), word(bytes, kHeaderWords + 2 * i + 1)};
  }
  return reading;
}

std::optional<double> perf_difference(const PerfGroupReading& begin, const PerfGroupReading& end,
                                      std::uint64_t id) {
  const auto count_in = [id](const PerfGroupReading& reading) -> std::optional<std::uint64_t> {
    for (std::size_t i = 0; i < reading.size; ++i) {
      if (reading.events[i].id == id) {
        return reading.events[i].count;
      }
    }
    return std::nullopt;
  };
  const auto first = count_in(begin);
  const auto last = count_in(end);
  if (!first || !last || *last < *first || end.time_enabled < begin.time_enabled ||
      end.time_running < begin.time_running) {
    return std::nullopt;
  }
  const auto enabled = static_cast<double>(end.time_enabled - begin.time_enabled);
  const auto running = static_cast<double>(end.time_running - begin.time_running);
  if (enabled == 0) {
    return 0.0;
  }
  if (running == 0) {
    return std::nullopt;
  }
  return static_cast<double>(*last - *first) * (enabled / running);
}

std::array<PerfEvent, kPerfEvents> hardware_events() {
  return {{{PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES},
           {PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS},
           {PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_REFERENCES},
           {PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES}}};
}

Result<PerfCounters> PerfCounters::open(const ThreadTeam& team,
                                        const std::array<PerfEvent, kPerfEvents>& events) {
  PerfCounters counters;
  int failure = ENODEV;
  for (const int thread : thread_numbers(team)) {
    Group& group = counters.groups_.emplace_back();
    for (std::size_t i = 0; i < kPerfEvents; ++i) {
      Descriptor descriptor = open_event(events[i], thread, group.leader);
      if (!descriptor.is_open() ||
          ::ioctl(descriptor.number(), PERF_EVENT_IOC_ID, &group.ids[i]) != 0) {
        failure = errno;
        continue;
      }
      if (group.leader < 0) {
        group.leader = descriptor.number();
      }
      group.descriptors[i] = std::move(descriptor);
    }
  }
  if (counters.names().empty()) {
    return unsupported("perf_event_open: {}", reason_of(failure));
  }
  return counters;
}

bool PerfCounters::counts(std::size_t event) const {
  return std::ranges::all_of(
      groups_, [&](const Group& group) { return group.descriptors[event].is_open(); });
}

std::string PerfCounters::names() const {
  std::string names;
  for (std::size_t i = 0; i < kPerfEvents; ++i) {
    if (counts(i)) {
      names += names.empty() ? "" : ", ";
      names += kNames[i];
    }
  }
  return names;
}

PerfCounters::Reading PerfCounters::read() const {
  Reading readings(groups_.size());
  for (std::size_t i = 0; i < groups_.size(); ++i) {
    std::array<std::byte, (3 + 2 * kPerfEvents) * sizeof(std::uint64_t)> bytes{};
    const ssize_t count = ::read(groups_[i].leader, bytes.data(), bytes.size());
    if (count > 0) {
      readings[i] = parse_perf_group(std::span(bytes).first(static_cast<std::size_t>(count)));
    }
  }
  return readings;
}

Counters PerfCounters::difference(const Reading& begin, const Reading& end) const {
  Counters result;
  std::optional<double>* const members[] = {&result.cycles, &result.instructions,
                                            &result.cache_references, &result.cache_misses};
  for (std::size_t event = 0; event < kPerfEvents; ++event) {
    double sum = 0;
    bool known = counts(event);
    for (std::size_t i = 0; known && i < groups_.size(); ++i) {
      const auto counted = begin[i] && end[i]
                               ? perf_difference(*begin[i], *end[i], groups_[i].ids[event])
                               : std::nullopt;
      known = counted.has_value();
      sum += counted.value_or(0);
    }
    if (known) {
      *members[event] = sum;
    }
  }
  return result;
}

}  // namespace mezzotint
