// The fields of a profile's file: one list for writing, reading and limits.
//
// A visitor takes each field as visitor.TYPE("key", member, limits...). Writing visits a const
// profile, reading a mutable one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "profile/profile.h"

namespace mezzotint {

namespace profile_limits {
constexpr std::size_t kBytes = std::size_t{64} << 20;
constexpr std::size_t kText = 4096;
constexpr std::size_t kThreads = 4096;
constexpr std::size_t kOps = 100'000;
constexpr std::size_t kSpans = std::size_t{1} << 20;
constexpr std::size_t kShortList = 1000;
constexpr double kSeconds = 1e9;
constexpr double kAmount = 1e24;  // operations, bytes or cycles; per second, too
constexpr std::uint64_t kMemory = std::uint64_t{1} << 60;
constexpr int kWhole = 1'000'000'000;
}  // namespace profile_limits

template <typename Visitor, typename Value>
void visit_spread(Visitor& visit, Value& spread) {
  visit.number("median", spread.median, profile_limits::kSeconds);
  visit.number("low", spread.low, profile_limits::kSeconds);
  visit.number("high", spread.high, profile_limits::kSeconds);
}

template <typename Visitor, typename Value>
void visit_counters(Visitor& visit, Value& counters) {
  visit.optional_number("cycles", counters.cycles, profile_limits::kAmount);
  visit.optional_number("instructions", counters.instructions, profile_limits::kAmount);
  visit.optional_number("cache_references", counters.cache_references, profile_limits::kAmount);
  visit.optional_number("cache_misses", counters.cache_misses, profile_limits::kAmount);
}

template <typename Visitor, typename Value>
void visit_op(Visitor& visit, Value& op) {
  namespace limits = profile_limits;
  visit.text("op", op.op);
  visit.text("kind", op.kind);
  visit.text("level", op.level);
  visit.text("implementation", op.implementation);
  visit.named("unit", op.unit, math_unit_from_name);
  visit.object("seconds", op.seconds, [](auto& v, auto& spread) { visit_spread(v, spread); });
  visit.number("share", op.share, 1.0);
  visit.number("flops", op.flops, limits::kAmount);
  visit.number("direct_flops", op.direct_flops, limits::kAmount);
  visit.number("bytes", op.bytes, limits::kAmount);
  visit.number("attainable_seconds", op.attainable_seconds, limits::kSeconds);
  visit.named("bottleneck", op.bottleneck, bottleneck_from_name);
  visit.number("loops", op.loops, limits::kAmount);
  visit.number("tasks", op.tasks, limits::kAmount);
  visit.number("kernels", op.kernels, limits::kAmount);
  visit.numbers("busy_seconds", op.busy_seconds, limits::kThreads, limits::kSeconds);
  visit.number("imbalance", op.imbalance, 1.0);
  visit.number("begin", op.begin, limits::kSeconds);
  visit.number("end", op.end, limits::kSeconds);
  visit.optional_object("counters", op.counters,
                        [](auto& v, auto& counters) { visit_counters(v, counters); });
  visit.whole("live_bytes", op.live_bytes, limits::kMemory);
  visit.whole("packed_bytes", op.packed_bytes, limits::kMemory);
}

template <typename Visitor, typename Value>
void visit_group(Visitor& visit, Value& group) {
  namespace limits = profile_limits;
  visit.text("level", group.level);
  visit.text("kind", group.kind);
  visit.whole("ops", group.ops, limits::kWhole);
  visit.object("seconds", group.seconds, [](auto& v, auto& spread) { visit_spread(v, spread); });
  visit.number("share", group.share, 1.0);
  visit.number("flops", group.flops, limits::kAmount);
  visit.number("direct_flops", group.direct_flops, limits::kAmount);
  visit.number("bytes", group.bytes, limits::kAmount);
  visit.number("attainable_seconds", group.attainable_seconds, limits::kSeconds);
  visit.number("tasks", group.tasks, limits::kAmount);
  visit.named("bottleneck", group.bottleneck, bottleneck_from_name);
}

template <typename Visitor, typename Value>
void visit_unit(Visitor& visit, Value& unit) {
  visit.named("unit", unit.unit, math_unit_from_name);
  visit.text("elements", unit.elements);
  visit.optional_text("absent", unit.absent);
  visit.number_unless(!unit.absent.empty(), "one_thread", unit.one_thread, profile_limits::kAmount);
  visit.number_unless(!unit.absent.empty(), "all_threads", unit.all_threads,
                      profile_limits::kAmount);
}

template <typename Visitor, typename Value>
void visit_level(Visitor& visit, Value& level) {
  visit.text("name", level.name);
  visit.whole_or_null("bytes", level.bytes, profile_limits::kMemory);
  visit.number("one_thread", level.one_thread, profile_limits::kAmount);
  visit.number("all_threads", level.all_threads, profile_limits::kAmount);
  visit.whole("caches", level.caches, static_cast<int>(profile_limits::kThreads));
}

template <typename Visitor, typename Value>
void visit_unit_work(Visitor& visit, Value& work) {
  visit.named("unit", work.unit, math_unit_from_name);
  visit.number("flops", work.flops, profile_limits::kAmount);
  visit.number("seconds", work.seconds, profile_limits::kSeconds);
}

template <typename Visitor, typename Value>
void visit_work_share(Visitor& visit, Value& share) {
  visit.number("flops", share.flops, 1.0);
  visit.number("time", share.time, 1.0);
}

template <typename Visitor, typename Value>
void visit_machine(Visitor& visit, Value& machine) {
  namespace limits = profile_limits;
  visit.text("processor", machine.processor);
  visit.text("isa", machine.isa);
  visit.whole("threads", machine.threads, static_cast<int>(limits::kThreads));
  visit.text("version", machine.version);
  visit.list("units", machine.units, limits::kShortList,
             [](auto& v, auto& unit) { visit_unit(v, unit); });
  visit.list("levels", machine.levels, limits::kShortList,
             [](auto& v, auto& level) { visit_level(v, level); });
  visit.number("start_seconds", machine.start_seconds, limits::kSeconds);
  visit.number("task_seconds", machine.task_seconds, limits::kSeconds);
  visit.number("took_seconds", machine.took_seconds, limits::kSeconds);
  visit.optional_number("spread", machine.spread, limits::kAmount);
}

template <typename Visitor, typename Value>
void visit_verdict(Visitor& visit, Value& verdict) {
  visit.texts("sentences", verdict.sentences, profile_limits::kShortList);
  visit.list("advice", verdict.advice, profile_limits::kShortList, [](auto& v, auto& advice) {
    v.text("text", advice.text);
    v.number("predicted_ratio", advice.predicted_ratio, profile_limits::kAmount);
    v.optional_text("command", advice.command);
  });
}

template <typename Visitor, typename Value>
void visit_profile(Visitor& visit, Value& profile) {
  namespace limits = profile_limits;
  visit.text("version", profile.version);
  visit.text("model", profile.model);
  visit.grid("grid", profile.grid);
  visit.whole("timestep", profile.timestep, limits::kWhole);
  visit.text("precision", profile.precision);
  visit.text("plan_hash", profile.plan_hash);
  visit.optional_text("plan", profile.plan);
  visit.object("machine", profile.machine,
               [](auto& v, auto& machine) { visit_machine(v, machine); });
  visit.whole("runs", profile.runs, limits::kWhole);
  visit.object("seconds", profile.seconds, [](auto& v, auto& spread) { visit_spread(v, spread); });
  visit.object("plain_seconds", profile.plain_seconds,
               [](auto& v, auto& spread) { visit_spread(v, spread); });
  visit.number("sum_seconds", profile.sum_seconds, limits::kSeconds);
  visit.whole("arena_bytes", profile.arena_bytes, limits::kMemory);
  visit.whole("packed_bytes", profile.packed_bytes, limits::kMemory);
  visit.whole("peak_bytes", profile.peak_bytes, limits::kMemory);
  visit.list("units", profile.units, limits::kShortList,
             [](auto& v, auto& work) { visit_unit_work(v, work); });
  visit.optional_object("matrix_share", profile.matrix_share,
                        [](auto& v, auto& share) { visit_work_share(v, share); });
  visit.optional_object("narrow_share", profile.narrow_share,
                        [](auto& v, auto& share) { visit_work_share(v, share); });
  visit.text("counters", profile.counters);
  visit.object("verdict", profile.verdict,
               [](auto& v, auto& verdict) { visit_verdict(v, verdict); });
  visit.texts("warnings", profile.warnings, limits::kShortList);
  visit.list("groups", profile.groups, limits::kOps,
             [](auto& v, auto& group) { visit_group(v, group); });
  visit.list("ops", profile.ops, limits::kOps, [](auto& v, auto& op) { visit_op(v, op); });
  visit.trace("trace", profile.trace, limits::kSpans);
}

}  // namespace mezzotint
