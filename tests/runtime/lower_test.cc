#include "runtime/lower.h"

#include <gtest/gtest.h>

#include "runtime/explain.h"
#include "runtime/fake_backend.h"
#include "runtime/program_data.h"
#include "support/graph_runner.h"

namespace mezzotint {
namespace {

using testing::FakeBackend;
using testing::parse;
using testing::test_machine;

constexpr std::string_view kTwo = R"(input %x step float32[1, 2, 4, 4, 4]
parameter %w [2, 2, 1, 1, 1]
%a = conv3d(%x, %w)
%a.sum = add(%a, %x)
%b = conv3d(%a.sum, %w)
%b.sum = add(%b, %a.sum)
output %b.sum
)";

// One implementation takes everything, the other, which is dearer, no region.
FakeBackend two_ways() {
  FakeBackend backend;
  backend.offer("fake.fused", 1, 1);
  backend.offer("fake.plain", 0.5, 0.5).refuse =
      [](const OpView& view) -> std::optional<std::string> {
    return view.op.body != nullptr ? std::optional<std::string>("nothing fused") : std::nullopt;
  };
  return backend;
}

std::string lowered_text(std::string_view text, const CompileOptions& options) {
  const FakeBackend backend = two_ways();
  const auto lowered = lower(parse(text), backend, options);
  EXPECT_TRUE(lowered.ok()) << lowered.error().message;
  return to_text(lowered->graph);
}

TEST(Lower, RegionsDoNotDependOnThreads) {
  const std::string text = lowered_text(kTwo, {test_machine(1), {}, {}});
  EXPECT_NE(text.find("%a = region("), std::string::npos) << text;
  EXPECT_EQ(text, lowered_text(kTwo, {test_machine(64), {}, {}}));
}

// Forced on one convolution, an implementation is the only one asked about its region, and no other
// region changes.
TEST(Lower, AForcedImplementationShapesItsRegion) {
  CompileOptions options{test_machine(), {}, {}};
  options.plan.entries["a"].implementation = "fake.plain";
  const std::string text = lowered_text(kTwo, options);
  EXPECT_NE(text.find("%a = conv3d("), std::string::npos) << text;
  EXPECT_NE(text.find("%a.sum = add("), std::string::npos) << text;
  EXPECT_NE(text.find("%b = region("), std::string::npos) << text;

  const auto explanation = explain(parse(kTwo), two_ways(), options);
  ASSERT_TRUE(explanation.ok()) << explanation.error().message;
  const auto found = std::ranges::find(explanation->unfused, "a.sum", &Unfused::op);
  ASSERT_NE(found, explanation->unfused.end());
  ASSERT_EQ(found->declined.size(), 1u);
  EXPECT_EQ(found->declined[0].convolution, "a");
  EXPECT_EQ(found->declined[0].refusal, "fake.plain: nothing fused");
}

// An entry for an op beside a convolution says how to compute it, not whether to fuse it.
TEST(Lower, OtherEntriesDoNotShapeRegions) {
  CompileOptions options{test_machine(), {}, {}};
  const std::string text = lowered_text(kTwo, options);
  options.plan.entries["a.sum"].implementation = "fake.plain";
  EXPECT_EQ(lowered_text(kTwo, options), text);
}

constexpr std::string_view kSkip = R"(input %x step float32[1, 2, 4, 4, 4]
input %v step float32[1, 2]
parameter %w [2]
parameter %w4 [4]
%a = silu(%x)
%v2 = silu(%v)
%a.moments = channel_moments(%a)
%a.norm = group_norm_coefficients(%a.moments, %w, %w) eps=1e-05 groups=2
%b = affine(%a, %a.norm) activation="silu"
%cat = concat(%b, %a)
%cat.moments = channel_moments(%cat)
%cat.norm = group_norm_coefficients(%cat.moments, %w4, %w4) eps=1e-05 groups=2
%y = affine(%cat, %cat.norm) activation="silu"
%z = add_channels(%b, %v2)
output %y
output %z
)";

TEST(Lower, MomentsOfASkipAreComputedOnce) {
  const std::string text = lowered_text(kSkip, {test_machine(), {}, {}});
  EXPECT_NE(text.find("alias %cat.moments.1 = %a.moments\n"), std::string::npos) << text;
  EXPECT_EQ(text.find("%cat = concat"), std::string::npos) << text;
}

TEST(Lower, KeptNamesAreOutputsOfTheirOwn) {
  CompileOptions options{test_machine(), {}, {}};
  options.keep = {"b.twin", "b"};
  const std::string twin =
      std::string(kSkip) + "%b.twin = affine(%a, %a.norm) activation=\"silu\"\n";
  const FakeBackend backend = two_ways();
  const auto lowered = lower(parse(twin), backend, options);
  ASSERT_TRUE(lowered.ok()) << lowered.error().message;
  const auto outputs = lowered->graph.outputs();
  ASSERT_EQ(outputs.size(), 4u);
  EXPECT_NE(outputs[2], outputs[3]);
}

TEST(Lower, PlansLearnWhatAMergedOpIsComputedAs) {
  const Graph graph = parse(kSkip);
  const auto lowered = lower(graph, two_ways(), {test_machine(), {}, {}});
  ASSERT_TRUE(lowered.ok()) << lowered.error().message;
  Plan plan;
  plan.entries["cat.moments.1"].implementation = "fake.plain";
  const Status status = check_plan(plan, graph, *lowered);
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().message,
            "plan: op cat.moments.1 is computed as a.moments: name that one instead");
}

// Passes over activations at each step are listed; vectors, tables and what a mask needs once are
// not.
TEST(Explain, ListsWhatStaysUnfused) {
  const auto explanation = explain(parse(R"(input %x step float32[1, 2, 4, 4, 4]
input %v step float32[1, 2]
input %m volume float32[1, 2, 4, 4, 4]
%m.silu = silu(%m)
%v.silu = silu(%v)
%x.time = add_channels(%x, %v.silu)
%y = add(%x.time, %m.silu)
%y.moments = channel_moments(%y)
%twice = concat(%y.moments, %y.moments)
output %y
output %twice
)"),
                                   two_ways(), {test_machine(), {}, {}});
  ASSERT_TRUE(explanation.ok()) << explanation.error().message;
  std::vector<std::string> names;
  for (const Unfused& unfused : explanation->unfused) {
    names.push_back(unfused.op);
    EXPECT_TRUE(unfused.declined.empty());
  }
  const std::vector<std::string> expected{"x.channels_last", "x.time", "y", "y.moments",
                                          "y.row_major"};
  EXPECT_EQ(names, expected);
}

}  // namespace
}  // namespace mezzotint
