#include "profile/verdict.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "profile/bottleneck.h"
#include "profile/synthetic.h"

namespace mezzotint {
namespace {

using testing::op_of;
using testing::round_machine;

// Classes, rooflines, shares and sums as the job makes them.
Profile profile_of(std::vector<OpProfile> ops) {
  Profile profile;
  profile.machine = round_machine();
  profile.precision = "fp32";
  profile.timestep = 250;
  for (OpProfile& op : ops) {
    op.attainable_seconds = roofline_of(op, profile.machine).attainable_seconds();
    op.bottleneck = classify(op, profile.machine);
    profile.sum_seconds += op.seconds.median;
  }
  for (OpProfile& op : ops) {
    op.share = op.seconds.median / profile.sum_seconds;
  }
  profile.ops = std::move(ops);
  profile.seconds = {profile.sum_seconds, profile.sum_seconds, profile.sum_seconds};
  return profile;
}

VerdictContext context() {
  return {"--model m --size 8", 2, ""};
}

const Advice* find(const Verdict& verdict, std::string_view part) {
  const auto found = std::ranges::find_if(verdict.advice, [&](const Advice& advice) {
    return advice.text.find(part) != std::string::npos;
  });
  return found == verdict.advice.end() ? nullptr : &*found;
}

TEST(Verdict, SaysBeforeAllThatTheMachineWasBusy) {
  VerdictContext busy = context();
  busy.caveat = "Busy.";
  const Profile profile = profile_of({op_of("conv3d", 8, 8e11, 1e6)});
  const Verdict verdict = verdict_of(profile, busy);
  EXPECT_EQ(verdict.sentences.at(0), "Busy.");
  EXPECT_EQ(verdict.sentences.at(1), verdict_of(profile, context()).sentences.at(0));
}

TEST(Verdict, SaysWhatBoundsItFirst) {
  Profile profile = profile_of({op_of("conv3d", 8, 8e11, 1e6), op_of("affine", 2, 1e9, 2e10)});
  profile.precision = "fast";
  const Verdict verdict = verdict_of(profile, context());
  ASSERT_FALSE(verdict.sentences.empty());
  EXPECT_EQ(verdict.sentences[0].find("Arithmetic bounds this network here: 80 % of the time"), 0U)
      << verdict.sentences[0];
  EXPECT_NE(verdict.sentences[0].find("DRAM 20 %"), std::string::npos) << verdict.sentences[0];
  // All at the roofline: nothing that numbers would promise.
  EXPECT_TRUE(verdict.advice.empty()) << verdict.advice.front().text;
}

TEST(Verdict, StatesConversionsAlsoWhenThereAreNone) {
  const Verdict without = verdict_of(profile_of({op_of("conv3d", 8, 8e11, 1e6)}), context());
  EXPECT_EQ(without.sentences[2], "No op only converts a layout or a type.");
  const Verdict with = verdict_of(
      profile_of({op_of("conv3d", 8, 8e11, 1e6), op_of("reorder", 2, 0, 2e10)}), context());
  EXPECT_EQ(with.sentences[2], "1 conversion of layouts and types: 20 % of the time.");
  const Advice* advice = find(with, "nothing is converted");
  ASSERT_NE(advice, nullptr);
  EXPECT_DOUBLE_EQ(advice->predicted_ratio, 0.8);
  EXPECT_EQ(advice->command,
            "mezzotint tune --model m --size 8 --precision fp32 --threads 2 --out plan.json");
}

TEST(Verdict, SaysWhatEachKindOfUnitDoes) {
  Profile profile = profile_of({op_of("conv3d", 8, 8e11, 1e6)});
  profile.narrow_share = WorkShare{0.5, 0.25};
  EXPECT_EQ(verdict_of(profile, context()).sentences.back(),
            "Matrix units (AMX): no such unit on this machine; narrow vector units (AVX-512-BF16, "
            "VNNI): 50 % of the operations in 25 % of the time.");
}

TEST(Verdict, AdvisesNoTuningWithAPlan) {
  Profile profile = profile_of({op_of("conv3d", 8, 8e11, 1e6), op_of("reorder", 2, 0, 2e10)});
  profile.plan = "plan.json";
  const Verdict verdict = verdict_of(profile, context());
  const Advice* advice = find(verdict, "nothing is converted");
  ASSERT_NE(advice, nullptr);
  EXPECT_EQ(advice->command, "");
}

// The slow one of two alike becomes as good as the better one: 8 s of work at 100 % attained.
TEST(Verdict, PredictsWhatTheBestOfAnImplementationAttains) {
  OpProfile other = op_of("conv3d", 8, 8e11, 1e6);  // does not say what the two could attain
  other.implementation = "another";
  const Verdict verdict = verdict_of(
      profile_of({op_of("conv3d", 10, 8e11, 1e6), op_of("conv3d", 30, 8e11, 1e6), other}),
      context());
  const Advice* advice = find(verdict, "as good as the best of their implementation");
  ASSERT_NE(advice, nullptr);
  EXPECT_DOUBLE_EQ(advice->predicted_ratio, 28.0 / 48);
}

TEST(Verdict, PredictsMoreThreadsButNotForDram) {
  VerdictContext four = context();
  four.available_threads = 4;
  Profile profile = profile_of({op_of("conv3d", 8, 8e11, 1e6), op_of("affine", 2, 1e9, 2e10)});
  profile.machine.start_seconds = profile.machine.task_seconds = 0;
  const Verdict verdict = verdict_of(profile, four);
  const Advice* advice = find(verdict, "All 4 threads");
  ASSERT_NE(advice, nullptr);
  EXPECT_DOUBLE_EQ(advice->predicted_ratio, (4.0 + 2) / 10);
  EXPECT_EQ(advice->command,
            "mezzotint profile --model m --size 8 --precision fp32 --timestep 250 --threads 4");
}

TEST(Verdict, PredictsNarrowOperandsFromTheDirectForm) {
  const VerdictContext fast = context();
  // Half as many operations as the direct form: at 200 GFLOP/s the same time; a quarter: longer.
  OpProfile same = op_of("fused conv3d", 8, 8e11, 1e6);
  same.direct_flops = 4 * same.flops;
  EXPECT_EQ(find(verdict_of(profile_of({same}), fast), "bf16"), nullptr);
  const Verdict verdict = verdict_of(profile_of({op_of("conv3d", 8, 8e11, 1e6)}), fast);
  const Advice* advice = find(verdict, "Convolutions with bf16 operands on avx512-bf16");
  ASSERT_NE(advice, nullptr);
  EXPECT_DOUBLE_EQ(advice->predicted_ratio, 0.5);
  EXPECT_NE(advice->command.find("--precision fast"), std::string::npos);
}

// An op at a quarter of float32's roofline, which half of its peak would still make twice as fast.
TEST(Verdict, PredictsNarrowOperandsOnlyWhereTheirUnitIsTheFasterOne) {
  const VerdictContext fast = context();
  Profile profile = profile_of({op_of("conv3d", 8, 8e11, 1e6), op_of("conv3d", 32, 8e11, 1e6)});
  const auto with_bf16 = [&](double peak) {
    for (UnitPeak& unit : profile.machine.units) {
      if (unit.unit == MathUnit::kAvx512Bf16) {
        unit.one_thread = peak / 2;
        unit.all_threads = peak;
      }
    }
    return verdict_of(profile, fast);
  };
  EXPECT_NE(find(with_bf16(101e9), "bf16"), nullptr);
  EXPECT_EQ(find(with_bf16(100e9), "bf16"), nullptr);
  EXPECT_EQ(find(with_bf16(50e9), "bf16"), nullptr);
}

TEST(Verdict, PutsTheLargestGainFirst) {
  OpProfile waiting = op_of("conv3d", 10, 8e11, 1e6);
  waiting.imbalance = 0.3;
  Profile profile = profile_of({waiting, op_of("reorder", 1, 0, 1e10)});
  profile.precision = "fast";
  const Verdict verdict = verdict_of(profile, context());
  ASSERT_GE(verdict.advice.size(), 2U);
  EXPECT_TRUE(std::ranges::is_sorted(verdict.advice, {},
                                     [](const Advice& advice) { return advice.predicted_ratio; }));
  EXPECT_NE(verdict.advice[0].text.find("never wait"), std::string::npos);
}

TEST(Verdict, OfNothingIsEmpty) {
  EXPECT_TRUE(verdict_of(Profile(), context()).sentences.empty());
}

}  // namespace
}  // namespace mezzotint
