#include "report/compare.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "report/compare_html.h"
#include "report/compare_json.h"
#include "report/profile_json.h"
#include "report/sample_profile.h"

namespace mezzotint {
namespace {

using Json = nlohmann::json;

OpProfile op(const std::string& name, const std::string& kind, double seconds,
             Bottleneck bottleneck = Bottleneck::kCompute,
             const std::string& implementation = "kernels") {
  OpProfile op;
  op.op = name;
  op.kind = kind;
  op.level = "8x8x8";
  op.implementation = implementation;
  op.bottleneck = bottleneck;
  op.seconds = {seconds, seconds, seconds};
  op.loops = 2;
  return op;
}

// A group for each kind, quiet; an evaluation takes what its ops do.
Profile profile_of(std::vector<OpProfile> ops) {
  Profile profile;
  profile.model = "model";
  profile.runs = 9;
  profile.ops = std::move(ops);
  for (const OpProfile& op : profile.ops) {
    auto group = std::ranges::find(profile.groups, op.kind, &GroupProfile::kind);
    if (group == profile.groups.end()) {
      group = profile.groups.insert(group, GroupProfile());
      group->level = op.level;
      group->kind = op.kind;
    }
    const double sum = group->seconds.median + op.seconds.median;
    group->seconds = {sum, sum, sum};
    ++group->ops;
    profile.sum_seconds += op.seconds.median;
  }
  profile.plain_seconds = {profile.sum_seconds, profile.sum_seconds, profile.sum_seconds};
  return profile;
}

Difference difference(const Profile& base, const Profile& other) {
  return compare_profiles({{"a", base}, {"b", other}}).differences.at(0);
}

double sum_of(const std::vector<SumChange>& sums) {
  double sum = 0;
  for (const SumChange& each : sums) {
    sum += each.difference();
  }
  return sum;
}

TEST(TimeRatio, SpansTheQuartilesOfBoth) {
  const auto ratio = time_ratio({3, 2, 4}, {6, 5, 8});
  ASSERT_TRUE(ratio);
  EXPECT_DOUBLE_EQ(ratio->median, 0.5);
  EXPECT_DOUBLE_EQ(ratio->low, 2.0 / 8);
  EXPECT_DOUBLE_EQ(ratio->high, 4.0 / 5);
  EXPECT_TRUE(ratio->excludes_one());
  EXPECT_FALSE(time_ratio({5, 4, 6}, {6, 5, 8})->excludes_one());
  EXPECT_FALSE(time_ratio({5, 5, 5}, {5, 5, 5})->excludes_one());
}

TEST(TimeRatio, IsNothingWhereATimeIsZero) {
  EXPECT_FALSE(time_ratio({0, 0, 0}, {1, 1, 1}));
  EXPECT_FALSE(time_ratio({1, 1, 1}, {0, 0, 0}));
  EXPECT_FALSE(time_ratio({1, 1, 1}, {1, 0, 2}));
  EXPECT_FALSE(time_ratio({1e9, 1e9, 1e9}, {5e-324, 5e-324, 5e-324})) << "beyond what is finite";
  EXPECT_FALSE(time_ratio({5e-324, 5e-324, 5e-324}, {1e9, 1e9, 1e9})) << "0 by rounding";
}

TEST(Compare, RepeatsTheWarningsOfEach) {
  Profile busy = profile_of({op("x", "conv3d", 0.080)});
  busy.warnings = {"Other work.", "Spread."};
  const Profile quiet = profile_of({op("x", "conv3d", 0.080)});
  EXPECT_EQ(difference(quiet, busy).sentences.back(), "B warns: Other work. Spread.");
  EXPECT_EQ(difference(busy, quiet).sentences.back(), "A warns: Other work. Spread.");
  EXPECT_EQ(difference(quiet, quiet).sentences.back().find("warns"), std::string::npos);
}

TEST(Compare, SaysWhichGroupExplainsTheDifference) {
  const Difference found =
      difference(profile_of({op("x", "conv3d", 0.080), op("y", "affine", 0.020)}),
                 profile_of({op("x", "conv3d", 0.030), op("y", "affine", 0.018)}));
  EXPECT_TRUE(found.beyond_noise);
  EXPECT_DOUBLE_EQ(found.ratio->median, 0.048 / 0.1);
  ASSERT_EQ(found.groups.size(), 2U);
  EXPECT_EQ(found.groups[0].kind, "conv3d");
  EXPECT_TRUE(found.groups[0].beyond_noise);
  EXPECT_DOUBLE_EQ(*found.groups[0].share, 0.050 / 0.052);
  EXPECT_EQ(found.sentences.at(0),
            "B takes 0.48 of A's time (0.48 to 0.48): 96 % of the difference is conv3d at 8x8x8.");
  EXPECT_EQ(found.sentences.at(1), "By what bounds the ops in A: compute -52.00 ms (100 %).");
}

TEST(Compare, SameProfileTwiceDiffersInNothing) {
  Profile profile = sample_profile();
  profile.warnings.clear();
  const Difference found = difference(profile, profile);
  EXPECT_FALSE(found.beyond_noise);
  EXPECT_EQ(found.ratio->median, 1);
  EXPECT_NE(found.sentences.at(0).find("no difference beyond noise"), std::string::npos);
  EXPECT_EQ(found.sentences.size(), 1U);
  EXPECT_TRUE(found.ops.empty());
  EXPECT_TRUE(found.contrasts.empty());
  EXPECT_EQ(found.only_base.count + found.only_other.count, 0U);
  for (const GroupChange& group : found.groups) {
    EXPECT_EQ(group.ratio->median, 1);
    EXPECT_FALSE(group.beyond_noise);
    EXPECT_FALSE(group.share) << "of no difference";
  }
  for (const FigureChange& figure : found.figures) {
    EXPECT_EQ(figure.base, figure.other) << figure.name;
  }
}

TEST(Compare, GroupOfOneOfThemHasNoRatio) {
  const Difference found =
      difference(profile_of({op("x", "conv3d", 0.05), op("r", "reorder", 0.03)}),
                 profile_of({op("x", "conv3d", 0.05), op("n", "add", 0.01)}));
  ASSERT_EQ(found.groups.size(), 3U);
  const GroupChange& gone = found.groups[0];
  EXPECT_EQ(gone.kind, "reorder");
  EXPECT_FALSE(gone.other);
  EXPECT_FALSE(gone.ratio);
  EXPECT_DOUBLE_EQ(gone.difference(), -0.03);
  EXPECT_DOUBLE_EQ(*gone.share, 1.5);
  const GroupChange& fresh = found.groups[1];
  EXPECT_EQ(fresh.kind, "add");
  EXPECT_FALSE(fresh.base);
  EXPECT_FALSE(fresh.ratio);
  EXPECT_DOUBLE_EQ(*fresh.share, -0.5);
  EXPECT_EQ(found.only_base.count, 1U);
  EXPECT_DOUBLE_EQ(found.only_base.seconds, 0.03);
  EXPECT_DOUBLE_EQ(found.only_other.seconds, 0.01);
}

TEST(Compare, ClassesAndKindsAddUpToTheDifference) {
  const Difference found = difference(sample_profile(), faster_profile());
  const double whole = found.other_sum - found.base_sum;
  ASSERT_LT(whole, 0);
  // Sums of some 150 terms each, in another order.
  const double bound = 1e-13 * found.base_sum;
  EXPECT_NEAR(sum_of(found.classes), whole, bound);
  EXPECT_NEAR(sum_of(found.kinds), whole, bound);
  double share = 0;
  for (const SumChange& sum : found.kinds) {
    share += sum.share.value();
  }
  EXPECT_NEAR(share, 1, 1e-9);
}

TEST(Compare, AnOpOfBothCountsInItsClassInTheBase) {
  const Difference found =
      difference(profile_of({op("x", "conv3d", 0.1, Bottleneck::kCompute)}),
                 profile_of({op("x", "conv3d", 0.06, Bottleneck::kMemoryDram)}));
  ASSERT_EQ(found.classes.size(), 1U);
  EXPECT_EQ(found.classes[0].name, "compute");
  EXPECT_DOUBLE_EQ(found.classes[0].difference(), -0.04);
  ASSERT_EQ(found.ops.size(), 1U);
  EXPECT_EQ(found.ops[0].other.bottleneck, Bottleneck::kMemoryDram);
}

TEST(Compare, ListsChangedOpsLargestFirst) {
  const Profile base =
      profile_of({op("a", "conv3d", 0.1), op("b", "conv3d", 0.1), op("c", "conv3d", 0.1)});
  const Profile other =
      profile_of({op("a", "conv3d", 0.09, Bottleneck::kCompute, "onednn"),
                  op("b", "conv3d", 0.13, Bottleneck::kMemoryL3), op("c", "conv3d", 0.01)});
  const Difference found = difference(base, other);
  ASSERT_EQ(found.ops.size(), 2U) << "another time alone is no change of kind";
  EXPECT_EQ(found.ops[0].base.op, "b");
  EXPECT_EQ(found.ops[1].other.implementation, "onednn");
}

// Nothing in a file keeps a name from standing there twice.
TEST(Compare, PairsOpsOfOneNameInTheirOrder) {
  const Difference found =
      difference(profile_of({op("x", "a", 0.1), op("x", "b", 0.2), op("x", "c", 0.3)}),
                 profile_of({op("x", "a", 0.1), op("x", "b", 0.2)}));
  EXPECT_EQ(found.only_base.count, 1U);
  EXPECT_DOUBLE_EQ(found.only_base.seconds, 0.3);
  EXPECT_EQ(found.only_other.count, 0U);
}

TEST(Compare, FewRunsTellNothingOfNoise) {
  Profile other = profile_of({op("x", "conv3d", 0.05)});
  other.runs = 2;
  const Difference found = difference(profile_of({op("x", "conv3d", 0.1)}), other);
  EXPECT_FALSE(found.beyond_noise);
  EXPECT_FALSE(found.groups[0].beyond_noise);
  EXPECT_FALSE(found.groups[0].share);
  EXPECT_NE(found.sentences.back().find("Less than 3 runs"), std::string::npos);
}

TEST(Compare, NamesNoGroupWithinNoise) {
  Profile other = profile_of({op("x", "conv3d", 0.05), op("y", "affine", 0.02)});
  other.groups[1].seconds = {0.02, 0.005, 0.2};
  const Difference found =
      difference(profile_of({op("x", "conv3d", 0.1), op("y", "affine", 0.1)}), other);
  EXPECT_FALSE(found.groups[0].beyond_noise) << "the larger change";
  EXPECT_EQ(found.sentences[0].find("affine"), std::string::npos) << found.sentences[0];
  EXPECT_NE(found.sentences[0].find("is conv3d at 8x8x8."), std::string::npos);
}

TEST(Compare, OpsThatSayTheOppositeExplainNothing) {
  Profile other = profile_of({op("x", "conv3d", 0.11)});
  other.plain_seconds = {0.05, 0.05, 0.05};
  const Difference found = difference(profile_of({op("x", "conv3d", 0.1)}), other);
  EXPECT_TRUE(found.beyond_noise);
  EXPECT_FALSE(found.groups[0].share);
  EXPECT_NE(found.sentences[0].find("no group of ops beyond noise explains it"), std::string::npos);
}

TEST(Compare, ZeroTimesAndNoOpsHaveNoRatio) {
  const Difference found = difference(Profile(), profile_of({op("x", "conv3d", 0)}));
  EXPECT_FALSE(found.ratio);
  EXPECT_FALSE(found.beyond_noise);
  EXPECT_NE(found.sentences[0].find("cannot be compared: a time is 0"), std::string::npos);
  const std::string json = comparison_json(compare_profiles({{"a", Profile()}, {"b", Profile()}}));
  EXPECT_FALSE(Json::parse(json, nullptr, false).is_discarded()) << json;
}

TEST(Compare, SaysWhatElseDiffers) {
  Profile other = sample_profile();
  other.precision = "fast";
  other.machine.threads = 4;
  other.machine.units[0].all_threads *= 2;
  other.machine.units[1].absent = "not here";
  const Difference found = difference(sample_profile(), other);
  ASSERT_EQ(found.contrasts.size(), 2U);
  EXPECT_EQ(found.contrasts[0].what, "precision");
  EXPECT_EQ(found.contrasts[0].other, "fast");
  EXPECT_EQ(found.contrasts[1].what, "threads");
  const auto figure = [&](std::string_view name) {
    return *std::ranges::find(found.figures, name, &FigureChange::name);
  };
  EXPECT_DOUBLE_EQ(*figure("fma").ratio(), 2);
  EXPECT_FALSE(figure("vnni-int8").other);
  EXPECT_FALSE(figure("vnni-int8").ratio());
  EXPECT_EQ(std::ranges::count(found.figures, "amx-int8", &FigureChange::name), 0)
      << "neither machine has it";
}

TEST(CompareJson, HasWhatFormatsDescribes) {
  const Json json = Json::parse(comparison_json(
      compare_profiles({{"a", sample_profile()}, {"b", faster_profile()}, {"c", Profile()}})));
  EXPECT_EQ(json.at("kind"), "mezzotint comparison");
  EXPECT_EQ(json.at("schema"), 1);
  EXPECT_EQ(json.at("of"), "profiles");
  EXPECT_EQ(json.at("profiles").size(), 3U);
  EXPECT_EQ(json.at("profiles")[1].at("label"), "B");
  ASSERT_EQ(json.at("differences").size(), 2U);
  EXPECT_EQ(json.at("differences")[1].at("label"), "C");
  EXPECT_TRUE(json.at("differences")[1].at("ratio").is_null());
  EXPECT_TRUE(json.at("differences")[1].at("groups")[0].at("other").is_null());
  EXPECT_EQ(json.at("differences")[0].at("only_base").at("count"), 1);
}

TEST(CompareHtml, HoldsItsDataAndNoMarkupFromTexts) {
  const Comparison hostile =
      compare_profiles({{"</script><img src=x>", hostile_profile()}, {"b", faster_profile()}});
  const std::string page = comparison_html(hostile);
  EXPECT_EQ(page.find("<img"), std::string::npos);
  const std::string begin = R"(<script type="application/json" id="data">)";
  const std::size_t at = page.find(begin) + begin.size();
  const Json data = Json::parse(page.substr(at, page.find("</script>", at) - at));
  EXPECT_EQ(data, Json::parse(comparison_json(hostile)));
  EXPECT_LE(page.size(), 2'000'000U);
}

}  // namespace
}  // namespace mezzotint
