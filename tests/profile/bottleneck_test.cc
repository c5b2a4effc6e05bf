#include "profile/bottleneck.h"

#include <gtest/gtest.h>

#include "profile/synthetic.h"

namespace mezzotint {
namespace {

using testing::op_of;
using testing::round_machine;

TEST(Bottleneck, NamesRoundTrip) {
  for (const Bottleneck bottleneck : kAllBottlenecks) {
    EXPECT_EQ(bottleneck_from_name(name_of(bottleneck)), bottleneck);
  }
  EXPECT_EQ(bottleneck_from_name("L1"), std::nullopt);
}

TEST(Roofline, IsTheLongerOfItsTwoSides) {
  const Calibration machine = round_machine();
  const Roofline roofline = roofline_of(op_of("affine", 1, 5e9, 1e9), machine);
  EXPECT_DOUBLE_EQ(roofline.compute_seconds, 0.05);
  EXPECT_DOUBLE_EQ(roofline.memory_seconds, 0.1);
  EXPECT_DOUBLE_EQ(roofline.attainable_seconds(), 0.1);
  OpProfile narrow = op_of("conv3d", 1, 20e9, 1e9);
  narrow.unit = MathUnit::kAvx512Bf16;
  EXPECT_DOUBLE_EQ(roofline_of(narrow, machine).attainable_seconds(), 0.1);
}

TEST(Roofline, HasNoSideThatWasNotMeasured) {
  OpProfile op = op_of("conv3d", 1, 20e9, 1e9);
  op.unit = MathUnit::kAmxBf16;
  EXPECT_EQ(roofline_of(op, round_machine()).compute_seconds, 0);
  EXPECT_EQ(roofline_of(op, Calibration()).attainable_seconds(), 0);
}

// Two cores have two L2 caches and share one L3.
TEST(Levels, HoldUpToTheirCapacity) {
  const Calibration machine = round_machine();
  EXPECT_EQ(level_that_holds(2e6, machine)->name, "L2");
  EXPECT_EQ(level_that_holds(2e6 + 1, machine)->name, "L3");
  EXPECT_EQ(level_that_holds(1e7, machine)->name, "L3");
  EXPECT_EQ(level_that_holds(1e7 + 1, machine)->name, "DRAM");
  EXPECT_EQ(level_that_holds(1, Calibration()), nullptr);
}

// Two hyper-threads of one core.
TEST(Levels, ThreadsThatShareACacheHaveOne) {
  Calibration machine = round_machine();
  machine.levels[0].caches = 1;
  EXPECT_EQ(level_that_holds(1e6, machine)->name, "L2");
  EXPECT_EQ(level_that_holds(1e6 + 1, machine)->name, "L3");
  machine.levels[1].caches = 2;
  EXPECT_EQ(level_that_holds(2e7, machine)->name, "L3");
}

TEST(Classify, AConversionIsOneWhateverElseIsTrue) {
  const Calibration machine = round_machine();
  EXPECT_EQ(classify(op_of("reorder", 1e-6, 0, 1e3), machine), Bottleneck::kConversion);
}

TEST(Classify, AConcatenationConvertsNothing) {
  const Calibration machine = round_machine();
  EXPECT_EQ(classify(op_of("concat", 1, 0, 1e10), machine), Bottleneck::kMemoryDram);
  EXPECT_EQ(classify(op_of("concat", 20e-6, 0, 1e3), machine), Bottleneck::kOverhead);
}

// One loop of two tasks on two threads costs 10 us, each further task 1 us.
TEST(Classify, OverheadIsWhatStartsTakeTooMuchOf) {
  const Calibration machine = round_machine();
  EXPECT_DOUBLE_EQ(start_seconds(op_of("silu", 1, 1, 1), machine), 10e-6);
  EXPECT_EQ(classify(op_of("silu", 39.9e-6, 1, 1), machine), Bottleneck::kOverhead);
  EXPECT_NE(classify(op_of("silu", 40.1e-6, 1, 1), machine), Bottleneck::kOverhead);
  OpProfile many = op_of("silu", 40.1e-6, 1, 1);
  many.tasks = 3;
  EXPECT_EQ(classify(many, machine), Bottleneck::kOverhead);
  OpProfile without_loops = op_of("silu", 39.9e-6, 1, 1);
  without_loops.loops = without_loops.tasks = 0;
  EXPECT_EQ(classify(without_loops, machine), Bottleneck::kOverhead);
}

TEST(Classify, ImbalanceBeginsAboveItsShare) {
  const Calibration machine = round_machine();
  OpProfile op = op_of("conv3d", 1, 1e11, 1e3);
  op.imbalance = kImbalanceShare;
  EXPECT_EQ(classify(op, machine), Bottleneck::kCompute);
  op.imbalance = kImbalanceShare + 1e-9;
  EXPECT_EQ(classify(op, machine), Bottleneck::kImbalance);
}

TEST(Classify, MemoryWhereItsSideOfTheRooflineIsLonger) {
  const Calibration machine = round_machine();
  EXPECT_EQ(classify(op_of("affine", 1, 10e9, 1e9), machine), Bottleneck::kCompute);
  EXPECT_EQ(classify(op_of("affine", 1, 9.9e9, 1e9), machine), Bottleneck::kMemoryDram);
}

// 1 MB: 10 us from L2, 20 us from L3, 100 us from DRAM, with nothing that starts.
TEST(Classify, TheLevelIsTheOneWhoseTimeIsNearest) {
  Calibration machine = round_machine();
  machine.start_seconds = machine.task_seconds = 0;
  EXPECT_EQ(classify(op_of("affine", 12e-6, 1, 1e6), machine), Bottleneck::kMemoryL2);
  EXPECT_EQ(classify(op_of("affine", 16e-6, 1, 1e6), machine), Bottleneck::kMemoryL3);
  EXPECT_EQ(classify(op_of("affine", 90e-6, 1, 1e6), machine), Bottleneck::kMemoryDram);
  // What L2 cannot hold does not come from there, however fast it was.
  EXPECT_EQ(classify(op_of("affine", 1e-6, 1, 3e6), machine), Bottleneck::kMemoryL3);
}

// Without a calibration there is no roofline to be near to.
TEST(Classify, AnUnknownMachineComputes) {
  EXPECT_EQ(classify(op_of("affine", 1, 1, 1e9), Calibration()), Bottleneck::kCompute);
}

}  // namespace
}  // namespace mezzotint
