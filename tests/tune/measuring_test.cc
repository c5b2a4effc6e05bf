// Filling a table: measured once, then from the cache; what is left out is predicted.
#include "tune/measuring.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>

#include "backend/cpu/cpu_backend.h"
#include "graph/text.h"
#include "support/graph_runner.h"

namespace mezzotint {
namespace {

namespace fs = std::filesystem;
using testing::test_machine;

constexpr std::string_view kConv = R"(input %x step float32[1, 32, 6, 6, 6] channels_last
parameter %w [32, 32, 3, 3, 3]
%y = conv3d(%x, %w) padding=1
output %y
)";

constexpr std::string_view kOtherConv = R"(input %x step float32[1, 32, 4, 4, 4] channels_last
parameter %w [32, 32, 3, 3, 3]
%y = conv3d(%x, %w) padding=1
output %y
)";

class MeasuringTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = ::testing::TempDir() + "mezzotint-measuring-XXXXXX";
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    folder_ = name;
    auto graph = graph_from_text(kConv);
    ASSERT_TRUE(graph.ok()) << graph.error().message;
    graph_ = std::move(*graph);
    options_.force = true;  // tests run beside others
  }
  void TearDown() override { fs::remove_all(folder_); }

  [[nodiscard]] OpTable table() const {
    OpTable table(*backend_, target_);
    const auto id = table.add({graph_, graph_.op(0)});
    EXPECT_TRUE(id.ok());
    table.use(*id);
    return table;
  }

  Status measure(OpTable& table, MeasuringCounts& counts) {
    auto cache = TimingCache::open(folder_, timing_scope(*backend_, target_.machine));
    if (!cache) {
      return cache.error();
    }
    const auto stopwatch = Stopwatch::create(target_, team_);
    if (!stopwatch) {
      return stopwatch.error();
    }
    return measure_ways(
        table, rivals_, *cache, *stopwatch, options_,
        [&](int done, int /*count*/) { return done < stop_after_; }, nullptr, counts);
  }

  fs::path folder_;
  Graph graph_;
  std::unique_ptr<Backend> backend_ = make_cpu_backend();
  Target target_{test_machine(1), Precision::kFp32};
  ThreadTeam team_{1};
  MeasuringOptions options_;
  RivalOps rivals_{{0}};
  int stop_after_ = 1000;
};

TEST_F(MeasuringTest, MeasuresEachWayOnce) {
  OpTable first = table();
  MeasuringCounts counts;
  ASSERT_TRUE(measure(first, counts).ok());
  EXPECT_GE(counts.ways, 3);
  EXPECT_EQ(counts.measured, counts.ways);
  EXPECT_EQ(counts.cached, 0);
  EXPECT_TRUE(first.unmeasured().empty());

  OpTable second = table();
  MeasuringCounts again;
  ASSERT_TRUE(measure(second, again).ok());
  EXPECT_EQ(again.measured, 0);
  EXPECT_EQ(again.cached, counts.ways);
  for (std::size_t way = 0; way < first.op(0).ways.size(); ++way) {
    EXPECT_EQ(first.op(0).ways[way].timing, second.op(0).ways[way].timing);
    EXPECT_GT(first.op(0).ways[way].timing->seconds, 0);
  }
}

// Between lists of rivals, which are measured together.
TEST_F(MeasuringTest, GoesOnWhereItWasStopped) {
  const auto other = graph_from_text(kOtherConv);
  ASSERT_TRUE(other.ok()) << other.error().message;
  const auto both = [&] {
    OpTable both = table();
    both.use(*both.add({*other, other->op(0)}));
    return both;
  };
  rivals_ = {{1}, {0}};
  OpTable first = both();
  MeasuringCounts counts;
  stop_after_ = 1;
  const Status status = measure(first, counts);
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().code, ErrorCode::kCancelled);
  EXPECT_EQ(counts.measured, static_cast<int>(first.op(1).ways.size()));

  OpTable second = both();
  MeasuringCounts rest;
  stop_after_ = 1000;
  ASSERT_TRUE(measure(second, rest).ok());
  EXPECT_EQ(rest.cached, counts.measured);
  EXPECT_EQ(rest.measured, static_cast<int>(second.op(0).ways.size()));
}

TEST_F(MeasuringTest, PredictsWhatThereIsNoTimeFor) {
  OpTable ops = table();
  MeasuringCounts counts;
  options_.stopwatch.deadline = Deadline(0);
  ASSERT_TRUE(measure(ops, counts).ok());
  EXPECT_EQ(counts.measured, 0);
  EXPECT_EQ(counts.predicted(), counts.ways);
  EXPECT_GT(ops.seconds(*ops.fastest(0)), 0);
}

TEST_F(MeasuringTest, RefusesABusyMachine) {
  options_.force = false;
  options_.stopwatch.most_spread = -1;  // no timing is that steady
  options_.stopwatch.matters_seconds = 0;
  options_.stopwatch.repetitions = 0;
  OpTable ops = table();
  MeasuringCounts counts;
  const Status status = measure(ops, counts);
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().code, ErrorCode::kResource);
  EXPECT_NE(status.error().message.find("--force"), std::string::npos);
  // None of these timings is kept.
  OpTable second = table();
  MeasuringCounts again;
  options_ = {};
  options_.force = true;
  ASSERT_TRUE(measure(second, again).ok());
  EXPECT_EQ(again.cached, 0);
}

// Scaled by what measured runs of the implementation, or of any, took.
TEST_F(MeasuringTest, PredictionsLearnFromTimings) {
  OpTable ops = table();
  const auto left = ops.unmeasured();
  ASSERT_GE(left.size(), 2U);
  const double predicted = ops.way(left[0]).predicted_seconds;
  const double other = ops.way(left[1]).predicted_seconds;
  ops.set_timing(left[0], {3 * predicted, 0, 3});
  EXPECT_DOUBLE_EQ(ops.seconds(ops.way(left[0])), 3 * predicted);
  EXPECT_NEAR(ops.seconds(ops.way(left[1])), 3 * other, 1e-12);
}

}  // namespace
}  // namespace mezzotint
