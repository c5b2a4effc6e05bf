#include "profile/team_log.h"

#include <gtest/gtest.h>

namespace mezzotint {
namespace {

TeamListener::Time at(int microseconds) {
  return TeamListener::Time(std::chrono::microseconds(microseconds));
}

TEST(TeamLog, CountsLoopsAndTasksAndAddsUpTheirTime) {
  TeamLog log(2);
  log.on_loop(3);
  log.on_task(0, at(0), at(10));
  log.on_task(1, at(2), at(9));
  log.on_task(0, at(10), at(15));
  log.on_loop(1);
  log.on_task(1, at(20), at(23));
  EXPECT_EQ(log.loops(), 2);
  EXPECT_EQ(log.tasks(), 4);
  const std::vector<double> busy = log.busy_seconds();
  ASSERT_EQ(busy.size(), 2U);
  EXPECT_NEAR(busy[0], 15e-6, 1e-12);
  EXPECT_NEAR(busy[1], 10e-6, 1e-12);
  // Thread 1 waits 8 of 15 us, then thread 0 all of 3 us: 11 of 2 x 18.
  EXPECT_NEAR(log.imbalance(), 11.0 / 36, 1e-9);
  ASSERT_EQ(log.spans().size(), 4U);
  EXPECT_EQ(log.spans()[1].thread, 0);
  EXPECT_EQ(log.spans()[1].begin, at(10));
  EXPECT_EQ(log.spans()[3].end, at(23));

  log.clear();
  EXPECT_EQ(log.loops(), 0);
  EXPECT_EQ(log.tasks(), 0);
  EXPECT_EQ(log.imbalance(), 0);
  EXPECT_EQ(log.busy_seconds(), std::vector<double>(2, 0.0));
  EXPECT_TRUE(log.spans().empty());
}

// What one loop leaves to one thread another loop may give back, and both have waited.
TEST(TeamLog, LoopsAreBalancedEachByItself) {
  TeamLog log(2);
  log.on_loop(1);
  log.on_task(0, at(0), at(10));
  log.on_loop(1);
  log.on_task(1, at(10), at(20));
  EXPECT_NEAR(log.imbalance(), 0.5, 1e-9);
  log.clear();
  log.on_loop(2);
  log.on_task(0, at(0), at(10));
  log.on_task(1, at(0), at(10));
  EXPECT_NEAR(log.imbalance(), 0, 1e-9);
}

}  // namespace
}  // namespace mezzotint
