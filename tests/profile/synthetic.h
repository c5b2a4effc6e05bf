// A machine with round numbers, and ops on it.
#pragma once

#include <string>

#include "profile/calibration.h"
#include "profile/profile.h"

namespace mezzotint::testing {

// Two threads: 100 GFLOP/s of FMA and 200 of bf16; L2 of 1 MB each with 100 GB/s, L3 of 10 MB with
// 50, DRAM with 10; a loop starts in 10 us, a further task in 1.
inline Calibration round_machine() {
  Calibration machine;
  machine.processor = "a processor";
  machine.isa = "avx512";
  machine.threads = 2;
  machine.units = {{MathUnit::kFma, 50e9, 100e9, "", "float32"},
                   {MathUnit::kVnniInt8, 0, 0, "not on this processor", "int8"},
                   {MathUnit::kAvx512Bf16, 100e9, 200e9, "", "bfloat16"},
                   {MathUnit::kAmxBf16, 0, 0, "not on this processor", "bfloat16"},
                   {MathUnit::kAmxInt8, 0, 0, "not on this processor", "int8"}};
  machine.levels = {
      {"L2", 1'000'000, 50e9, 100e9, 2}, {"L3", 10'000'000, 30e9, 50e9}, {"DRAM", 0, 8e9, 10e9}};
  machine.start_seconds = 10e-6;
  machine.task_seconds = 1e-6;
  return machine;
}

// One loop of two tasks, balanced, far longer than its start.
inline OpProfile op_of(std::string kind, double seconds, double flops, double bytes) {
  OpProfile op;
  op.op = kind;
  op.kind = std::move(kind);
  op.level = "8x8x8";
  op.seconds = {seconds, seconds, seconds};
  op.flops = flops;
  op.direct_flops = flops;
  op.bytes = bytes;
  op.loops = 1;
  op.tasks = 2;
  op.kernels = 2;
  op.busy_seconds = {seconds, seconds};
  return op;
}

}  // namespace mezzotint::testing
