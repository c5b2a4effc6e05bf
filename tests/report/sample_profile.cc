#include "report/sample_profile.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <map>
#include <string>
#include <utility>

#include "profile/groups.h"

namespace mezzotint {
namespace {

constexpr double kFlops = 2.4e11;
constexpr double kDramBandwidth = 2.1e10;
constexpr double kL3Bandwidth = 6.5e10;
constexpr double kL2Bandwidth = 2.4e11;

Calibration sample_machine() {
  Calibration machine;
  machine.processor = "Sample Processor 9000 @ 2.00GHz";
  machine.isa = "avx512";
  machine.threads = 2;
  machine.version = "0.1.0";
  machine.units = {{MathUnit::kFma, 1.22e11, kFlops, "", "float32"},
                   {MathUnit::kVnniInt8, 4.6e11, 9.1e11, "", "uint8 x int8 into int32"},
                   {MathUnit::kAvx512Bf16, 2.3e11, 4.6e11, "", "bfloat16 into float32"},
                   {MathUnit::kAmxBf16, 0, 0, "not on this processor", "bfloat16 into float32"},
                   {MathUnit::kAmxInt8, 0, 0, "not on this processor", "uint8 x int8 into int32"}};
  machine.levels = {{"L2", std::uint64_t{2} << 20, 1.2e11, kL2Bandwidth, 2},
                    {"L3", std::uint64_t{48} << 20, 3.4e10, kL3Bandwidth},
                    {"DRAM", 0, 1.2e10, kDramBandwidth}};
  machine.start_seconds = 3.1e-6;
  machine.task_seconds = 9e-8;
  machine.took_seconds = 21.4;
  machine.spread = 0.024;
  return machine;
}

struct OpShape {
  std::string kind;
  std::string implementation;
  int side = 128;
  int inputs = 64;
  int outputs = 64;
  Bottleneck bottleneck = Bottleneck::kCompute;
  double attained = 0.7;
  int taps = 27;
};

double bandwidth_of(Bottleneck bottleneck) {
  switch (bottleneck) {
    case Bottleneck::kMemoryL2: return kL2Bandwidth;
    case Bottleneck::kMemoryL3: return kL3Bandwidth;
    default: return kDramBandwidth;
  }
}

Spread around(double median) {
  return {median, median * 0.985, median * 1.021};
}

class Builder {
 public:
  void add(const std::string& name, const OpShape& shape) {
    const double voxels = double(shape.side) * shape.side * shape.side;
    OpProfile op;
    op.op = name;
    op.kind = shape.kind;
    op.level = shape.side == 1 ? "vectors" : fmt::format("{0}x{0}x{0}", shape.side);
    op.implementation = shape.implementation;
    op.bottleneck = shape.bottleneck;
    op.bytes = 4 * voxels * (shape.inputs + shape.outputs);
    const bool is_conv = shape.kind == "region" || shape.kind == "conv3d";
    op.direct_flops = voxels * shape.outputs * (is_conv ? 2.0 * shape.taps * shape.inputs : 4.0);
    op.flops = is_conv && shape.implementation.starts_with("winograd") ? op.direct_flops / 5.2
                                                                       : op.direct_flops;
    op.attainable_seconds = std::max(op.flops / kFlops, op.bytes / bandwidth_of(shape.bottleneck));
    op.seconds = around(op.attainable_seconds / shape.attained + 4e-6);
    op.loops = is_conv ? 3 : 1;
    op.tasks = std::max(1.0, double(shape.side) * shape.side / 64);
    op.kernels = is_conv ? 9 * op.tasks : op.tasks;
    op.busy_seconds = {
        op.seconds.median * 0.96,
        op.seconds.median * (shape.bottleneck == Bottleneck::kImbalance ? 0.4 : 0.93)};
    op.imbalance = shape.bottleneck == Bottleneck::kImbalance ? 0.29 : 0.04;
    op.live_bytes = live_ + static_cast<std::uint64_t>(op.bytes);
    op.packed_bytes = is_conv ? std::uint64_t(shape.inputs) * shape.outputs * shape.taps * 4 : 0;
    profile.ops.push_back(op);
  }

  // GroupNorm, SiLU and convolution twice, the time vector in between.
  void block(const std::string& path, int side, int inputs, int outputs) {
    const bool is_coarse = side <= 16;
    const Bottleneck norm_bound = is_coarse    ? Bottleneck::kMemoryL2
                                  : side == 32 ? Bottleneck::kMemoryL3
                                               : Bottleneck::kMemoryDram;
    const OpShape moments{"channel_moments", "kernels",  side, inputs / 2,
                          inputs / 2,        norm_bound, 0.81};
    const OpShape coefficients{"group_norm_coefficients", "ref", 1, inputs, inputs,
                               Bottleneck::kOverhead,     0.02};
    const OpShape conv{"region",
                       is_coarse ? "onednn" : "winograd-f4",
                       side,
                       inputs,
                       outputs,
                       is_coarse ? Bottleneck::kImbalance : Bottleneck::kCompute,
                       is_coarse ? 0.44 : 0.73};
    OpShape second = conv;
    second.inputs = outputs;
    second.attained = is_coarse ? 0.52 : 0.78;
    second.bottleneck = Bottleneck::kCompute;
    add(path + ".in_layers.0", moments);
    add(path + ".in_layers.0.coefficients", coefficients);
    add(path + ".in_layers.2", conv);
    add(path + ".emb_layers.1",
        {"select_rows", "ref", 1, outputs, outputs, Bottleneck::kOverhead, 0.05});
    add(path + ".out_layers.0.coefficients", coefficients);
    add(path + ".out_layers.1", {"affine", "kernels", side, outputs, outputs, norm_bound, 0.77});
    add(path + ".out_layers.3", second);
  }

  void live(double mebibytes) { live_ = static_cast<std::uint64_t>(mebibytes * 1048576); }

  Profile profile;

 private:
  std::uint64_t live_ = 0;
};

void add_ops(Builder& build) {
  constexpr int kSides[] = {128, 64, 32, 16, 8};
  constexpr int kChannels[] = {64, 64, 128, 192, 256};
  build.live(96);
  build.add("input_blocks.0.0",
            {"conv3d", "few_inputs", 128, 2, 64, Bottleneck::kMemoryDram, 0.66});
  for (int level = 0; level < 5; ++level) {
    const int from = kChannels[std::max(0, level - 1)];
    build.live(512.0 + 60.0 * level);
    build.block(fmt::format("input_blocks.{}.0", 2 * level + 1), kSides[level], from,
                kChannels[level]);
    if (level < 4) {
      build.add(fmt::format("input_blocks.{}.0.op", 2 * level + 2),
                {"region", "onednn", kSides[level] / 2, kChannels[level], kChannels[level],
                 Bottleneck::kCompute, 0.55});
    }
  }
  for (int i = 0; i < 2; ++i) {
    build.block(fmt::format("middle_block.{}", i), 8, 256, 256);
  }
  for (int i = 0; i < 10; ++i) {
    const int level = 4 - i / 2;
    const std::string path = fmt::format("output_blocks.{}", i);
    build.live(780.0 - 40.0 * i);
    build.block(path + ".0", kSides[level], i % 2 == 0 ? 2 * kChannels[level] : kChannels[level],
                kChannels[level]);
    build.add(path + ".0.skip_connection", {"region", "onednn", kSides[level], kChannels[level],
                                            kChannels[level], Bottleneck::kMemoryDram, 0.6, 1});
  }
  build.live(256);
  build.block("out", 128, 64, 1);
  build.add("out.reorder", {"reorder", "ref", 128, 1, 1, Bottleneck::kConversion, 0.5});
}

void add_groups(Profile& profile) {
  std::map<std::pair<std::string, std::string>, GroupProfile> groups;
  std::map<const GroupProfile*, double> slowest;
  for (OpProfile& op : profile.ops) {
    op.share = op.seconds.median / profile.sum_seconds;
    GroupProfile& group = groups[{op.level, op.kind}];
    group.level = op.level;
    group.kind = op.kind;
    ++group.ops;
    group.seconds = around(group.seconds.median + op.seconds.median);
    group.share += op.share;
    group.flops += op.flops;
    group.direct_flops += op.direct_flops;
    group.bytes += op.bytes;
    group.attainable_seconds += op.attainable_seconds;
    group.tasks += op.tasks;
    if (op.seconds.median > slowest[&group]) {
      slowest[&group] = op.seconds.median;
      group.bottleneck = op.bottleneck;
    }
  }
  for (const auto& [key, group] : groups) {
    profile.groups.push_back(group);
  }
  std::ranges::sort(profile.groups, std::ranges::greater(),
                    [](const GroupProfile& group) { return group.seconds.median; });
}

void add_trace(Profile& profile) {
  constexpr int kTasks = 4;
  double now = 0;
  for (std::size_t i = 0; i < profile.ops.size(); ++i) {
    const double step = profile.ops[i].seconds.median / kTasks;
    profile.ops[i].begin = now;
    profile.ops[i].end = now + profile.ops[i].seconds.median;
    for (int task = 0; task < kTasks; ++task) {
      for (int thread = 0; thread < profile.machine.threads; ++thread) {
        const double begin = now + step * (task + 0.005);
        profile.trace.push_back(
            {static_cast<std::uint32_t>(i), thread, begin, begin + step * (0.99 - 0.03 * thread)});
      }
    }
    now += profile.ops[i].seconds.median;
  }
}

Verdict sample_verdict() {
  return {
      {"Convolutions take 83 % of the time, and arithmetic bounds them: they attain 74 % of what "
       "float32 FMA can do here.",
       "Passes between convolutions take 14 %, bound by DRAM."},
      {{"bfloat16 operands would double the attainable rate of the convolutions.", 0.62,
        "mezzotint profile --model whole-head.pt --size 128 --precision fast --out fast/"},
       {"Other kernels for the coarse levels, where threads wait for each other.", 0.96,
        "mezzotint tune --model whole-head.pt --size 128 --out plan.json"},
       {"The five passes that stay unfused at 128x128x128 read and write 2.7 GB.", 0.98, ""}}};
}

// From its ops and machine.
void fill_rest(Profile& profile) {
  profile.version = "0.1.0";
  profile.model = "whole-head.pt";
  profile.grid = {128, 128, 128};
  profile.timestep = 500;
  profile.precision = "fp32";
  profile.plan_hash = "4f0c6a1d2e";
  profile.runs = 9;
  for (const OpProfile& op : profile.ops) {
    profile.sum_seconds += op.seconds.median;
    profile.arena_bytes = std::max(profile.arena_bytes, op.live_bytes);
    profile.packed_bytes += op.packed_bytes;
  }
  profile.seconds = around(profile.sum_seconds * 1.008);
  profile.plain_seconds = around(profile.sum_seconds * 1.001);
  profile.arena_bytes += std::uint64_t{64} << 20;
  profile.peak_bytes = profile.arena_bytes + profile.packed_bytes + (std::uint64_t{140} << 20);
  share_among_units(profile);
  profile.counters = "not available here: perf_event_open is not permitted";
  profile.ops.front().counters = Counters{3.2e8, 5.1e8, std::nullopt, 2.25e6};
  add_groups(profile);
  add_trace(profile);
}

}  // namespace

Profile sample_profile() {
  Builder build;
  add_ops(build);
  Profile profile = std::move(build.profile);
  profile.machine = sample_machine();
  fill_rest(profile);
  profile.verdict = sample_verdict();
  profile.warnings = {"The machine was busy: runs spread by 3.6 %."};
  return profile;
}

Profile faster_profile() {
  Builder build;
  add_ops(build);
  build.profile.ops.pop_back();
  build.add("out.scale", {"affine", "kernels", 128, 1, 1, Bottleneck::kMemoryDram, 0.8});
  Profile profile = std::move(build.profile);
  profile.machine = sample_machine();
  for (OpProfile& op : profile.ops) {
    if (op.kind == "region" && op.level == "128x128x128") {
      op.implementation = "onednn-bf16";
      op.unit = MathUnit::kAvx512Bf16;
      op.seconds = around(op.seconds.median / 2);
      op.bottleneck = Bottleneck::kMemoryDram;
      op.packed_bytes *= 2;
    }
  }
  fill_rest(profile);
  profile.precision = "fast";
  return profile;
}

Profile hostile_profile() {
  const std::string text =
      "</script><img src=x onerror=\"document.title='harmed'\"><!--<script>{{data}}";
  Profile profile = sample_profile();
  profile.model = profile.machine.processor = profile.plan = profile.counters = text;
  profile.verdict.sentences.push_back(text);
  profile.verdict.advice[0].text = profile.verdict.advice[0].command = text;
  profile.warnings.push_back(text);
  for (OpProfile* op : {&profile.ops[0], &profile.ops[2]}) {
    op->op = text + "." + op->op;
    op->kind = op->implementation = op->level = text;
  }
  profile.groups[0].kind = profile.groups[0].level = text;
  return profile;
}

}  // namespace mezzotint
