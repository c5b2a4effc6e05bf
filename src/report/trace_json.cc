#include "report/trace_json.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string_view>
#include <vector>

namespace mezzotint {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kOpsTrack = 0;
constexpr std::string_view kMemory = "memory in use";

// Text to text: as values in memory a long trace would take some hundred times its spans.
std::string to_text(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::int64_t nanoseconds(double seconds) {
  return std::llround(seconds * 1e9);
}

// Whole nanoseconds as microseconds, exactly.
std::string microseconds(std::int64_t nanoseconds) {
  return fmt::format("{}.{:03}", nanoseconds / 1000, nanoseconds % 1000);
}

struct Extent {
  std::int64_t begin = 0;
  std::int64_t end = 0;
};

class EventList {
 public:
  [[nodiscard]] const std::string& text() const { return text_; }

  void metadata(std::string_view name, int track, const Json& arguments) {
    add(fmt::format(R"("name":"{}","ph":"M","pid":1,"tid":{},"args":{})", name, track,
                    to_text(arguments)));
  }
  void track(int track, std::string_view name) {
    metadata("thread_name", track, {{"name", name}});
    metadata("thread_sort_index", track, {{"sort_index", track}});
  }
  // `name` is JSON text already.
  void slice(std::string_view name, int track, const Extent& extent, std::string_view arguments) {
    add(fmt::format(R"("name":{},"ph":"X","pid":1,"tid":{},"ts":{},"dur":{}{})", name, track,
                    microseconds(extent.begin), microseconds(extent.end - extent.begin),
                    arguments));
  }
  void counter(std::string_view name, std::int64_t at, std::uint64_t bytes) {
    add(fmt::format(R"("name":"{}","ph":"C","pid":1,"ts":{},"args":{{"bytes":{}}})", name,
                    microseconds(at), bytes));
  }

 private:
  void add(std::string_view fields) {
    fmt::format_to(std::back_inserter(text_), "{}{{{}}}", text_.empty() ? "" : ",\n", fields);
  }

  std::string text_;
};

std::string op_arguments(const OpProfile& op) {
  const Json arguments = {{"kind", op.kind},
                          {"level", op.level},
                          {"implementation", op.implementation},
                          {"bottleneck", std::string(name_of(op.bottleneck))},
                          {"median_seconds", op.seconds.median},
                          {"flops", op.flops},
                          {"bytes", op.bytes}};
  return ",\"args\":" + to_text(arguments);
}

void add_tracks(const Profile& profile, EventList& events) {
  events.metadata("process_name", kOpsTrack, {{"name", "mezzotint: " + profile.model}});
  events.track(kOpsTrack, "ops");
  for (int thread = 0; thread < profile.machine.threads; ++thread) {
    events.track(kOpsTrack + 1 + thread, fmt::format("thread {}", thread));
  }
}

std::vector<std::string> names_as_json(const Profile& profile) {
  std::vector<std::string> names;
  names.reserve(profile.ops.size());
  for (const OpProfile& op : profile.ops) {
    names.push_back(to_text(op.op));
  }
  return names;
}

Json description(const Profile& profile) {
  return {{"version", profile.version},
          {"model", profile.model},
          {"grid", profile.grid},
          {"timestep", profile.timestep},
          {"precision", profile.precision},
          {"plan_hash", profile.plan_hash},
          {"processor", profile.machine.processor},
          {"isa", profile.machine.isa},
          {"threads", profile.machine.threads}};
}

}  // namespace

std::string trace_json(const Profile& profile) {
  EventList events;
  add_tracks(profile, events);
  const std::vector<std::string> names = names_as_json(profile);
  std::int64_t end = 0;
  for (std::size_t i = 0; i < profile.ops.size(); ++i) {
    const OpProfile& op = profile.ops[i];
    const Extent extent{nanoseconds(op.begin), nanoseconds(op.end)};
    events.slice(names[i], kOpsTrack, extent, op_arguments(op));
    events.counter(kMemory, extent.begin, op.live_bytes + profile.packed_bytes);
    end = std::max(end, extent.end);
  }
  // A viewer draws a counter's last value to the end of the trace, so the arena's end is an event.
  if (!profile.ops.empty()) {
    events.counter(kMemory, end, profile.packed_bytes);
  }
  for (const TraceSpan& span : profile.trace) {
    events.slice(names[span.op], kOpsTrack + 1 + span.thread,
                 {nanoseconds(span.begin), nanoseconds(span.end)}, "");
  }
  return fmt::format("{{\"displayTimeUnit\":\"ms\",\"otherData\":{},\n\"traceEvents\":[\n{}\n]}}\n",
                     to_text(description(profile)), events.text());
}

}  // namespace mezzotint
