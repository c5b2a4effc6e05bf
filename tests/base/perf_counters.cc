#include "base/perf_counters.h"

#include <gtest/gtest.h>
#include <linux/perf_event.h>

#include <cmath>
#include <cstring>
#include <string>
#include <vector>

namespace mezzotint {
namespace {

// What Linux 6 returned for a group of task-clock, page-faults, cpu-migrations and context-switches
// after a tenth of a second's loop and 26 faults: little-endian words.
constexpr unsigned char kRecorded[] = {
    0x04, 0,    0,    0,    0, 0, 0, 0, 0x1a, 0xf7, 0xa3, 0x0f, 0, 0, 0, 0,  //
    0x1a, 0xf7, 0xa3, 0x0f, 0, 0, 0, 0, 0xc9, 0xf7, 0xa3, 0x0f, 0, 0, 0, 0,  //
    0x8a, 0x01, 0,    0,    0, 0, 0, 0, 0x1a, 0,    0,    0,    0, 0, 0, 0,  //
    0x8b, 0x01, 0,    0,    0, 0, 0, 0, 0,    0,    0,    0,    0, 0, 0, 0,  //
    0x8c, 0x01, 0,    0,    0, 0, 0, 0, 0,    0,    0,    0,    0, 0, 0, 0,  //
    0x8d, 0x01, 0,    0,    0, 0, 0, 0};
constexpr std::uint64_t kTime = 0x0fa3f71a;
constexpr std::uint64_t kTaskClock = 0x18a;
constexpr std::uint64_t kPageFaults = 0x18b;
constexpr std::uint64_t kMigrations = 0x18c;

std::span<const std::byte> recorded() {
  return std::as_bytes(std::span(kRecorded));
}

PerfGroupReading reading(std::uint64_t enabled, std::uint64_t running, std::uint64_t count) {
  PerfGroupReading result;
  result.time_enabled = enabled;
  result.time_running = running;
  result.events[0] = {count, 7};
  result.size = 1;
  return result;
}

TEST(PerfGroup, ReadsARecordedStream) {
  const auto group = parse_perf_group(recorded());
  ASSERT_TRUE(group.has_value());
  EXPECT_EQ(group->time_enabled, kTime);
  EXPECT_EQ(group->time_running, kTime);
  ASSERT_EQ(group->size, 4U);
  EXPECT_EQ(group->events[0].count, 0x0fa3f7c9U);
  EXPECT_EQ(group->events[0].id, kTaskClock);
  EXPECT_EQ(group->events[1].count, 26U);
  EXPECT_EQ(group->events[3].id, 0x18dU);
  EXPECT_EQ(perf_difference(PerfGroupReading(), *group, kTaskClock), std::nullopt)
      << "an event that the first reading lacks";
  auto start = *group;
  start.time_enabled = start.time_running = 0;
  for (auto& event : start.events) {
    event.count = 0;
  }
  EXPECT_EQ(perf_difference(start, *group, kPageFaults), 26.0);
  EXPECT_EQ(perf_difference(start, *group, kMigrations), 0.0) << "counted, and none came";
  EXPECT_EQ(perf_difference(start, *group, 1), std::nullopt);
}

TEST(PerfGroup, RefusesEveryTruncation) {
  const auto bytes = recorded();
  for (std::size_t length = 0; length < bytes.size(); ++length) {
    EXPECT_FALSE(parse_perf_group(bytes.first(length)).has_value()) << length;
  }
}

TEST(PerfGroup, RefusesMoreEventsThanThereAre) {
  for (const unsigned char count : {5, 255}) {
    std::vector<unsigned char> bytes(std::begin(kRecorded), std::end(kRecorded));
    bytes[0] = count;
    bytes.resize(bytes.size() + 255 * 16);
    EXPECT_FALSE(parse_perf_group(std::as_bytes(std::span(bytes))).has_value());
    bytes[0] = 4;
    bytes[7] = count;
    EXPECT_FALSE(parse_perf_group(std::as_bytes(std::span(bytes))).has_value());
  }
}

TEST(PerfDifference, ScalesWhatWasCountedForAPartOfTheTime) {
  EXPECT_EQ(perf_difference(reading(100, 100, 10), reading(300, 200, 60), 7), 100.0);
  EXPECT_EQ(perf_difference(reading(100, 50, 10), reading(200, 150, 60), 7), 50.0)
      << "the scale is that of the time in between, not of all time";
}

TEST(PerfDifference, ZeroIsOnlyWhatWasCountedAsZero) {
  EXPECT_EQ(perf_difference(reading(100, 0, 0), reading(200, 0, 0), 7), std::nullopt)
      << "enabled, but never on a counter";
  EXPECT_EQ(perf_difference(reading(100, 50, 5), reading(200, 50, 5), 7), std::nullopt);
  EXPECT_EQ(perf_difference(reading(100, 100, 5), reading(100, 100, 5), 7), 0.0)
      << "the thread slept";
  EXPECT_EQ(perf_difference(reading(100, 100, 5), reading(200, 200, 5), 7), 0.0);
}

TEST(PerfDifference, RefusesReadingsThatRunBackwards) {
  EXPECT_EQ(perf_difference(reading(100, 100, 5), reading(200, 200, 4), 7), std::nullopt);
  EXPECT_EQ(perf_difference(reading(100, 100, 5), reading(99, 100, 5), 7), std::nullopt);
  EXPECT_EQ(perf_difference(reading(100, 100, 5), reading(200, 99, 5), 7), std::nullopt);
}

void spin(double& sum) {
  for (int i = 0; i < 3'000'000; ++i) {
    sum += std::sqrt(static_cast<double>(i));
  }
}

// Events that every Linux counts, in place of the processor's.
TEST(PerfCounters, CountsOnEveryThreadOfTheTeam) {
  constexpr std::array<PerfEvent, kPerfEvents> kSoftware = {{
      {PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK},
      {PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_MIGRATIONS},
      {PERF_TYPE_SOFTWARE, ~std::uint64_t{0}},
      {PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS},
  }};
  const ThreadTeam team(2);
  const auto counters = PerfCounters::open(team, kSoftware);
  if (!counters) {
    EXPECT_TRUE(counters.error().message.starts_with("perf_event_open: "));
    GTEST_SKIP() << counters.error().message;
  }
  EXPECT_EQ(counters->names(), "cycles, instructions, cache misses") << "one event does not exist";
  const auto begin = counters->read();
  ASSERT_EQ(begin.size(), 2U);
  std::vector<double> sums(2);
  team.parallel_for(2, [&](std::int64_t i) { spin(sums[static_cast<std::size_t>(i)]); });
  const auto end = counters->read();
  const Counters counted = counters->difference(begin, end);
  ASSERT_TRUE(counted.cycles.has_value());
  EXPECT_GT(*counted.cycles, 0) << "nanoseconds on a processor";
  EXPECT_FALSE(counted.cache_references.has_value());
  ASSERT_TRUE(counted.cache_misses.has_value());

  // Both threads count, not the caller alone.
  for (std::size_t i = 0; i < 2; ++i) {
    ASSERT_TRUE(begin[i] && end[i]);
    EXPECT_GT(end[i]->time_enabled, 0U) << i;
  }
  auto lost = end;
  lost[1].reset();
  EXPECT_FALSE(counters->difference(begin, lost).cycles.has_value())
      << "a sum that lacks a thread is not known";
}

TEST(PerfCounters, SaysWhyTheProcessorsAreNotAvailable) {
  const auto counters = PerfCounters::open(ThreadTeam(1));
  if (counters) {
    EXPECT_FALSE(counters->names().empty());
    return;
  }
  EXPECT_EQ(counters.error().code, ErrorCode::kUnsupported);
  EXPECT_TRUE(counters.error().message.starts_with("perf_event_open: "))
      << counters.error().message;
}

}  // namespace
}  // namespace mezzotint
