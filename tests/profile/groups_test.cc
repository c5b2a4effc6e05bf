#include "profile/groups.h"

#include <gtest/gtest.h>

#include "profile/synthetic.h"

namespace mezzotint {
namespace {

OpRecord record(std::string kind, std::string level, std::vector<double> seconds, double flops) {
  OpRecord record;
  record.op.name = kind + level;
  record.op.flops = 2 * flops;
  record.op.work = {.flops = flops, .priced_flops = 3 * flops, .bytes = 1e3};
  record.kind = std::move(kind);
  record.level = std::move(level);
  record.imbalance.assign(seconds.size(), 0);
  record.loops = static_cast<double>(seconds.size());
  record.tasks = 4 * record.loops;
  record.busy_seconds = {3, 1};
  record.seconds = std::move(seconds);
  return record;
}

TEST(Groups, OpsAreMediansAndMeansPerRun) {
  const std::vector<OpRecord> records{record("conv3d", "8x8x8", {3, 1, 2}, 1e11),
                                      record("silu", "8x8x8", {6, 6, 6}, 1e9)};
  const auto ops = profile_ops(records, testing::round_machine());
  ASSERT_EQ(ops.size(), 2U);
  EXPECT_EQ(ops[0].seconds.median, 2);
  EXPECT_EQ(ops[0].seconds.low, 1.5);
  EXPECT_EQ(ops[0].seconds.high, 2.5);
  EXPECT_EQ(ops[0].share, 0.25);
  EXPECT_EQ(ops[1].share, 0.75);
  EXPECT_EQ(ops[0].flops, 1e11);
  EXPECT_EQ(ops[0].direct_flops, 2e11);
  EXPECT_EQ(ops[0].loops, 1);
  EXPECT_EQ(ops[0].tasks, 4);
  EXPECT_EQ(ops[0].busy_seconds, (std::vector<double>{1, 1.0 / 3}));
  EXPECT_DOUBLE_EQ(ops[0].attainable_seconds, 1);
  EXPECT_DOUBLE_EQ(ops[0].attained(), 0.5);
  EXPECT_EQ(ops[0].bottleneck, Bottleneck::kCompute);
}

TEST(Groups, KernelsAreWhatTheImplementationSaysOrElseTasks) {
  std::vector<OpRecord> records{record("conv3d", "8x8x8", {1, 1}, 1e11),
                                record("conv3d", "8x8x8", {1, 1}, 1e11),
                                record("linear", "vectors", {1, 1}, 1e3)};
  records[0].op.kernels = 36;
  records[2].loops = 0;
  records[2].tasks = 0;
  const auto ops = profile_ops(records, testing::round_machine());
  EXPECT_EQ(ops[0].kernels, 36);
  EXPECT_DOUBLE_EQ(ops[0].kernel_seconds(), 2.0 / 36);
  EXPECT_EQ(ops[1].kernels, 4);
  EXPECT_EQ(ops[2].kernels, 1);
}

TEST(Groups, JoinLevelAndKindSlowestFirst) {
  const std::vector<OpRecord> records{
      record("conv3d", "8x8x8", {1, 1, 4}, 1e11), record("conv3d", "4x4x4", {9, 9, 9}, 1e11),
      record("silu", "8x8x8", {1, 1, 1}, 1e9), record("conv3d", "8x8x8", {1, 5, 1}, 1e11)};
  const auto ops = profile_ops(records, testing::round_machine());
  const auto groups = group_ops(records, ops);
  ASSERT_EQ(groups.size(), 3U);
  EXPECT_EQ(groups[0].level, "4x4x4");
  EXPECT_EQ(groups[1].level, "8x8x8");
  EXPECT_EQ(groups[1].kind, "conv3d");
  EXPECT_EQ(groups[1].ops, 2);
  // Of the sums 2, 6, 5, not the sum of the medians.
  EXPECT_EQ(groups[1].seconds.median, 5);
  EXPECT_EQ(groups[1].flops, 2e11);
  EXPECT_EQ(groups[1].tasks, 8);
  EXPECT_EQ(groups[2].kind, "silu");
  double share = 0;
  for (const GroupProfile& group : groups) {
    share += group.share;
  }
  EXPECT_NEAR(share, 1, 1e-12);
}

TEST(Groups, AreBoundByWhatMostOfTheirTimeIs) {
  auto waiting = record("conv3d", "8x8x8", {3, 3, 3}, 1e11);
  waiting.imbalance.assign(3, 0.4);
  const std::vector<OpRecord> records{record("conv3d", "8x8x8", {2, 2, 2}, 1e11), waiting};
  const auto groups = group_ops(records, profile_ops(records, testing::round_machine()));
  ASSERT_EQ(groups.size(), 1U);
  EXPECT_EQ(groups[0].bottleneck, Bottleneck::kImbalance);
}

OpProfile op_on(MathUnit unit, double seconds, double flops) {
  OpProfile op;
  op.unit = unit;
  op.seconds.median = seconds;
  op.flops = flops;
  return op;
}

// Narrow vectors are no matrix unit, and a unit that is missing has no share, not one of 0.
TEST(Units, AmxAloneIsAMatrixUnit) {
  Profile profile;
  profile.machine = testing::round_machine();
  profile.ops = {op_on(MathUnit::kFma, 1, 1e9), op_on(MathUnit::kAvx512Bf16, 2, 2e9),
                 op_on(MathUnit::kFma, 1, 1e9)};
  share_among_units(profile);
  ASSERT_EQ(profile.units.size(), std::size(kAllMathUnits));
  EXPECT_EQ(profile.units[0].unit, MathUnit::kFma);
  EXPECT_EQ(profile.units[0].flops, 2e9);
  EXPECT_EQ(profile.units[0].seconds, 2);
  EXPECT_EQ(profile.units[2].unit, MathUnit::kAvx512Bf16);
  EXPECT_EQ(profile.units[2].seconds, 2);
  EXPECT_FALSE(profile.matrix_share) << "no AMX there";
  ASSERT_TRUE(profile.narrow_share);
  EXPECT_EQ(profile.narrow_share->flops, 0.5);
  EXPECT_EQ(profile.narrow_share->time, 0.5);
}

TEST(Units, AMatrixUnitThatIdlesHasAShareOf0) {
  Profile profile;
  profile.machine = testing::round_machine();
  profile.machine.units[3] = {MathUnit::kAmxBf16, 1e12, 2e12, "", "bfloat16"};
  profile.ops = {op_on(MathUnit::kFma, 1, 3e9)};
  share_among_units(profile);
  ASSERT_TRUE(profile.matrix_share);
  EXPECT_EQ(profile.matrix_share->flops, 0);
  profile.ops.push_back(op_on(MathUnit::kAmxBf16, 3, 1e9));
  share_among_units(profile);
  EXPECT_EQ(profile.matrix_share->flops, 0.25);
  EXPECT_EQ(profile.matrix_share->time, 0.75);
  EXPECT_EQ(profile.narrow_share->flops, 0);
}

TEST(Spread, IsQuartilesBetweenNeighbours) {
  const Spread spread = spread_of({4, 1, 3, 2});
  EXPECT_DOUBLE_EQ(spread.median, 2.5);
  EXPECT_DOUBLE_EQ(spread.low, 1.75);
  EXPECT_DOUBLE_EQ(spread.high, 3.25);
  EXPECT_DOUBLE_EQ(spread.relative(), 0.6);
  EXPECT_EQ(spread_of({}).relative(), 0);
  EXPECT_EQ(spread_of({7}).relative(), 0);
}

}  // namespace
}  // namespace mezzotint
