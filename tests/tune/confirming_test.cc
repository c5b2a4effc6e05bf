// Which departures stay, by what comparisons found: here a cache says it.
#include "tune/confirming.h"

#include <gtest/gtest.h>

#include "tune/residual_block.h"
#include "tune/temporary_cache.h"

namespace mezzotint {
namespace {

bool go_on(int /*done*/, int /*count*/) {
  return true;
}

class ConfirmingTest : public testing::ResidualBlockTest {
 protected:
  void SetUp() override {
    set_up_table();
    auto stopwatch = Stopwatch::create(options_.target(), team_);
    ASSERT_TRUE(stopwatch.ok());
    stopwatch_.emplace(std::move(*stopwatch));
    cache_.emplace(*backend_, options_.machine);
    confirming_.stopwatch.deadline = Deadline(0);
  }

  void set_up_table() {
    ResidualBlockTest::SetUp();
    set_costs(1);
    ASSERT_TRUE(space_->join_forms().ok());
    set_costs(101);
  }

  // Of the plan that the timings choose.
  std::vector<Departure> departures() {
    const auto chosen = choose_plan(*space_, {});
    EXPECT_TRUE(chosen.ok());
    return departures_of(*space_, default_choice(*space_), *chosen);
  }

  // As if it had been compared; the default's side took `pace` times what the table says.
  void found(const Departure& departure, double ratio, double high_ratio, double pace = 1) {
    const OpTable& table = space_->table();
    const PairedTiming pairs{pace * seconds_of(table, departure.standard), ratio, high_ratio, 16};
    EXPECT_TRUE((*cache_)->add_pairs(sides_of(table, departure), pairs).ok());
  }

  Confirming confirming() { return {*space_, **cache_, *stopwatch_, confirming_, nullptr}; }

  ThreadTeam team_{1};
  std::optional<Stopwatch> stopwatch_;
  std::optional<testing::TemporaryCache> cache_;
  ConfirmingOptions confirming_;
};

TEST_F(ConfirmingTest, DeparturesAreWhatTheChoiceGains) {
  const PlanChoice standard = default_choice(*space_);
  const auto chosen = choose_plan(*space_, {});
  ASSERT_TRUE(chosen.ok());
  double gain = 0;
  for (const Departure& each : departures()) {
    gain += seconds_of(space_->table(), each.standard) - seconds_of(space_->table(), each.changed);
  }
  EXPECT_GT(gain, 0);
  EXPECT_NEAR(gain, standard.seconds - chosen->seconds, 1e-12);
}

TEST_F(ConfirmingTest, WithoutTimeNothingDeparts) {
  ASSERT_FALSE(departures().empty());
  Confirming confirm = confirming();
  const auto chosen = confirm.choose(go_on);
  ASSERT_TRUE(chosen.ok()) << chosen.error().message;
  EXPECT_EQ(chosen->plan.entries, default_choice(*space_).plan.entries);
  ASSERT_FALSE(confirm.unconfirmed().empty());
  EXPECT_NE(confirm.unconfirmed().front().reason.find("no time"), std::string::npos);
  EXPECT_EQ(confirm.counts().confirmed, 0);
}

TEST_F(ConfirmingTest, WhatWinsStaysAndTheSumsSayByHowMuch) {
  const std::vector<Departure> all = departures();
  double expected = 0;
  for (const Departure& each : all) {
    found(each, 0.8, 0.9);
    expected += 0.2 * seconds_of(space_->table(), each.standard);
  }
  Confirming confirm = confirming();
  const auto chosen = confirm.choose(go_on);
  ASSERT_TRUE(chosen.ok()) << chosen.error().message;
  const PlanChoice standard = default_choice(*space_);
  const std::vector<Departure> kept = departures_of(*space_, standard, *chosen);
  ASSERT_EQ(kept.size(), all.size());
  EXPECT_EQ(confirm.counts().cached, static_cast<int>(all.size()));
  EXPECT_EQ(confirm.counts().confirmed, static_cast<int>(all.size()));
  EXPECT_NEAR(standard.seconds - chosen->seconds, expected, 1e-9);
}

TEST_F(ConfirmingTest, WhatLosesInTooManyPairsGoes) {
  for (const Departure& each : departures()) {
    found(each, 0.8, 1.01);
  }
  Confirming confirm = confirming();
  const auto chosen = confirm.choose(go_on);
  ASSERT_TRUE(chosen.ok());
  EXPECT_EQ(chosen->plan.entries, default_choice(*space_).plan.entries);
  EXPECT_NE(confirm.unconfirmed().front().reason.find("in three of four"), std::string::npos);
  EXPECT_FALSE(confirm.limits().forms.empty() && confirm.limits().ways.empty());
}

// The default's unlucky timings come down to what the comparison found, and its sum with them.
TEST_F(ConfirmingTest, TheDefaultIsNeverAsSlowAsItsUnluckyTimings) {
  const double before = default_choice(*space_).seconds;
  const Departure first = departures().front();
  const double side = seconds_of(space_->table(), first.standard);
  found(first, 1.1, 1.2, /*pace=*/0.5);
  Confirming confirm = confirming();
  ASSERT_TRUE(confirm.choose(go_on).ok());
  EXPECT_LE(default_choice(*space_).seconds, before - 0.5 * side + 1e-12);
}

TEST_F(ConfirmingTest, SmallGainsAreNotWorthADecision) {
  confirming_.least_part = 1;
  Confirming confirm = confirming();
  const auto chosen = confirm.choose(go_on);
  ASSERT_TRUE(chosen.ok());
  EXPECT_EQ(chosen->plan.entries, default_choice(*space_).plan.entries);
  EXPECT_NE(confirm.unconfirmed().front().reason.find("less than"), std::string::npos);
}

// What is compared for real is in the cache for the next.
TEST_F(ConfirmingTest, ComparesOnce) {
  confirming_.stopwatch.deadline = {};
  confirming_.stopwatch.least_pairs = 2;
  confirming_.stopwatch.enough_pair_seconds = 0;
  Confirming first = confirming();
  ASSERT_TRUE(first.choose(go_on).ok());
  EXPECT_GT(first.counts().compared, 0);
  EXPECT_EQ(first.counts().cached, 0);
  set_up_table();
  confirming_.stopwatch.deadline = Deadline(0);
  Confirming second = confirming();
  ASSERT_TRUE(second.choose(go_on).ok());
  EXPECT_EQ(second.counts().compared, 0);
  EXPECT_EQ(second.counts().cached, first.counts().compared);
}

TEST_F(ConfirmingTest, StopsOnRequest) {
  Confirming confirm = confirming();
  const auto chosen = confirm.choose([](int, int) { return false; });
  ASSERT_FALSE(chosen.ok());
  EXPECT_EQ(chosen.error().code, ErrorCode::kCancelled);
}

}  // namespace
}  // namespace mezzotint
