#include "pipeline/timing.h"

#include <gtest/gtest.h>

#include "base/error.h"

namespace mezzotint {
namespace {

TEST(Timing, median_and_range_of_few_runs) {
  const Timing odd = summarise({3.0, 1.0, 2.0});
  EXPECT_DOUBLE_EQ(odd.median_seconds, 2.0);
  EXPECT_DOUBLE_EQ(odd.spread, 1.0);  // (3 - 1) / 2
  EXPECT_EQ(odd.runs, 3);
  EXPECT_DOUBLE_EQ(summarise({4.0, 2.0}).median_seconds, 3.0);
}

TEST(Timing, spread_leaves_out_the_outer_tenths) {
  std::vector<double> seconds(20, 1.0);
  seconds[3] = 100;
  seconds[7] = 0.01;
  EXPECT_DOUBLE_EQ(summarise(seconds).spread, 0.0);
  seconds[4] = 100;
  seconds[5] = 100;
  EXPECT_DOUBLE_EQ(summarise(seconds).spread, 99.0);
}

TEST(Timing, counts_runs_but_not_warm_ups) {
  int warm = 0;
  int counted = 0;
  const auto timing = measure({2, 5, 5, 0, 0}, [&](bool counts) -> Status {
    ++(counts ? counted : warm);
    return {};
  });
  ASSERT_TRUE(timing);
  EXPECT_EQ(warm, 2);
  EXPECT_EQ(counted, 5);
  EXPECT_EQ(timing->runs, 5);
}

TEST(Timing, goes_on_until_it_has_seconds_enough) {
  const auto timing = measure({0, 1, 1, 0.02, 10}, [](bool) -> Status { return {}; });
  ASSERT_TRUE(timing);
  EXPECT_GT(timing->runs, 1);
}

TEST(Timing, ends_with_the_first_error) {
  int runs = 0;
  const auto timing = measure(
      {}, [&](bool) -> Status { return ++runs == 3 ? Status(invalid_input("third")) : Status(); });
  ASSERT_FALSE(timing);
  EXPECT_EQ(timing.error().message, "third");
  EXPECT_EQ(runs, 3);
}

}  // namespace
}  // namespace mezzotint
