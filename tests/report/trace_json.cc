#include "report/trace_json.h"

#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "report/sample_profile.h"

namespace mezzotint {
namespace {

using Json = nlohmann::json;

// A slice, in whole nanoseconds.
struct Slice {
  std::string name;
  long begin = 0;
  long end = 0;
};

long nanoseconds(const Json& microseconds) {
  return std::lround(microseconds.get<double>() * 1e3);
}

// By track, in the order of the file.
std::map<int, std::vector<Slice>> slices_of(const Json& trace) {
  std::map<int, std::vector<Slice>> slices;
  for (const Json& event : trace["traceEvents"]) {
    if (event["ph"] == "X") {
      const long begin = nanoseconds(event["ts"]);
      slices[event["tid"]].push_back({event["name"], begin, begin + nanoseconds(event["dur"])});
    }
  }
  return slices;
}

TEST(TraceJson, TracksHaveNames) {
  const Json trace = Json::parse(trace_json(sample_profile()));
  std::map<int, std::string> names;
  for (const Json& event : trace["traceEvents"]) {
    if (event["ph"] == "M" && event["name"] == "thread_name") {
      names[event["tid"]] = event["args"]["name"];
    }
  }
  EXPECT_EQ(names, (std::map<int, std::string>{{0, "ops"}, {1, "thread 0"}, {2, "thread 1"}}));
  EXPECT_EQ(trace["traceEvents"][0]["name"], "process_name");
  EXPECT_EQ(trace["traceEvents"][0]["args"]["name"], "mezzotint: whole-head.pt");
  EXPECT_EQ(trace["otherData"]["processor"], "Sample Processor 9000 @ 2.00GHz");
  EXPECT_EQ(trace["displayTimeUnit"], "ms");
}

// What both viewers need: on one track no slice begins before the one before has ended.
TEST(TraceJson, SlicesOfATrackFollowEachOther) {
  const auto tracks = slices_of(Json::parse(trace_json(sample_profile())));
  ASSERT_EQ(tracks.size(), 3u);
  for (const auto& [track, slices] : tracks) {
    for (std::size_t i = 0; i < slices.size(); ++i) {
      ASSERT_LE(slices[i].begin, slices[i].end) << track;
      ASSERT_TRUE(i == 0 || slices[i - 1].end <= slices[i].begin) << track << ", " << i;
    }
  }
}

// Before its first task an op opens a loop, between its loops one thread works alone.
TEST(TraceJson, AnOpsSliceIsFromItsLaunchToItsEnd) {
  const Profile profile = sample_profile();
  const auto slices = slices_of(Json::parse(trace_json(profile))).at(0);
  ASSERT_EQ(slices.size(), profile.ops.size());
  for (std::size_t i = 0; i < slices.size(); ++i) {
    EXPECT_EQ(slices[i].name, profile.ops[i].op);
    EXPECT_EQ(slices[i].begin, std::lround(profile.ops[i].begin * 1e9));
    EXPECT_EQ(slices[i].end, std::lround(profile.ops[i].end * 1e9));
  }
}

TEST(TraceJson, TasksLieWithinTheirOp) {
  const Profile profile = sample_profile();
  const auto tracks = slices_of(Json::parse(trace_json(profile)));
  ASSERT_EQ(tracks.at(0).size(), profile.ops.size());
  std::map<std::string, Slice> ops;
  for (const Slice& op : tracks.at(0)) {
    ops[op.name] = op;
  }
  std::size_t tasks = 0;
  for (const int thread : {1, 2}) {
    for (const Slice& task : tracks.at(thread)) {
      ASSERT_LE(ops.at(task.name).begin, task.begin);
      ASSERT_LE(task.end, ops.at(task.name).end);
      ++tasks;
    }
  }
  EXPECT_EQ(tasks, profile.trace.size());
}

TEST(TraceJson, TheCounterIsLiveBytesAndPackedWeights) {
  const Profile profile = sample_profile();
  const Json trace = Json::parse(trace_json(profile));
  const auto ops = slices_of(trace).at(0);
  std::size_t i = 0;
  for (const Json& event : trace["traceEvents"]) {
    if (event["ph"] == "C") {
      EXPECT_EQ(event["name"], "memory in use");
      if (i == profile.ops.size()) {
        EXPECT_EQ(event["args"]["bytes"], profile.packed_bytes) << "the arena's end";
        EXPECT_EQ(nanoseconds(event["ts"]), ops.back().end);
        ++i;
        continue;
      }
      ASSERT_LT(i, profile.ops.size());
      EXPECT_EQ(event["args"]["bytes"], profile.ops[i].live_bytes + profile.packed_bytes);
      EXPECT_EQ(nanoseconds(event["ts"]), ops[i].begin);
      ++i;
    }
  }
  EXPECT_EQ(i, profile.ops.size() + 1);
}

TEST(TraceJson, NamesMayHoldAnyBytesAndOpsNoTask) {
  Profile profile = sample_profile();
  profile.ops[0].op = "a\"\\\n\xff";
  std::erase_if(profile.trace, [](const TraceSpan& span) { return span.op == 1; });
  const auto ops = slices_of(Json::parse(trace_json(profile))).at(0);
  EXPECT_EQ(ops.size(), profile.ops.size());
  EXPECT_EQ(ops[0].name, "a\"\\\n\xEF\xBF\xBD");
  EXPECT_EQ(ops[1].name, profile.ops[1].op);
}

TEST(TraceJson, NothingTracedIsStillATrace) {
  Profile profile = sample_profile();
  profile.trace.clear();
  profile.ops.clear();
  const Json trace = Json::parse(trace_json(profile));
  EXPECT_TRUE(slices_of(trace).empty());
  for (const Json& event : trace["traceEvents"]) {
    EXPECT_EQ(event["ph"], "M");
  }
}

}  // namespace
}  // namespace mezzotint
