#include "diffusion/timesteps.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <string>

namespace mezzotint {
namespace {

using Steps = std::vector<int>;

Steps chosen(int length, int steps, Spacing spacing) {
  const auto schedule = cosine_schedule(length);
  EXPECT_TRUE(schedule.ok());
  const auto timesteps = choose_timesteps(*schedule, steps, spacing);
  EXPECT_TRUE(timesteps.ok());
  return *timesteps;
}

TEST(Timesteps, EvenInTime) {
  EXPECT_EQ(chosen(250, 10, Spacing::kTimestep),
            (Steps{249, 221, 194, 166, 138, 111, 83, 55, 28, 0}));
  EXPECT_EQ(chosen(250, 2, Spacing::kTimestep), (Steps{249, 0}));
  EXPECT_EQ(chosen(4, 4, Spacing::kTimestep), (Steps{3, 2, 1, 0}));
}

// i * 9 / 6 meets 1.5, 4.5 and 7.5: to 2, 4 and 8.
TEST(Timesteps, TiesGoToTheEvenTimestep) {
  EXPECT_EQ(chosen(10, 7, Spacing::kTimestep), (Steps{9, 8, 6, 4, 3, 2, 0}));
}

TEST(Timesteps, OneStepStartsFromPureNoise) {
  EXPECT_EQ(chosen(250, 1, Spacing::kTimestep), (Steps{249}));
  EXPECT_EQ(chosen(250, 1, Spacing::kLogSnr), (Steps{249}));
}

TEST(Timesteps, EveryCountIsDescendingWithBothEnds) {
  for (const int length : {2, 3, 20, 250}) {
    for (int steps = 2; steps <= length; ++steps) {
      for (const Spacing spacing : {Spacing::kTimestep, Spacing::kLogSnr}) {
        const Steps timesteps = chosen(length, steps, spacing);
        ASSERT_EQ(timesteps.front(), length - 1);
        ASSERT_EQ(timesteps.back(), 0);
        ASSERT_TRUE(std::is_sorted(timesteps.begin(), timesteps.end(), std::greater_equal<>()));
        ASSERT_EQ(std::adjacent_find(timesteps.begin(), timesteps.end()), timesteps.end());
        if (spacing == Spacing::kTimestep) {
          ASSERT_EQ(timesteps.size(), static_cast<std::size_t>(steps));
        } else {
          ASSERT_LE(timesteps.size(), static_cast<std::size_t>(steps));
        }
      }
    }
  }
}

// Against a plain search over all timesteps for the nearest lambda.
TEST(Timesteps, EvenInLogSnr) {
  const auto schedule = cosine_schedule(1000);
  ASSERT_TRUE(schedule.ok());
  for (const int steps : {3, 10, 25, 60}) {
    Steps expected;
    const double from = schedule->half_log_snr(999);
    const double to = schedule->half_log_snr(0);
    for (int i = 0; i < steps; ++i) {
      const double target = from + (to - from) * i / (steps - 1);
      int best = 0;
      for (int t = 1; t < 1000; ++t) {
        if (std::fabs(schedule->half_log_snr(t) - target) <
            std::fabs(schedule->half_log_snr(best) - target)) {
          best = t;
        }
      }
      if (expected.empty() || expected.back() != best) {
        expected.push_back(best);
      }
    }
    EXPECT_EQ(chosen(1000, steps, Spacing::kLogSnr), expected) << steps;
  }
}

TEST(Timesteps, LogSnrDropsDuplicates) {
  EXPECT_LT(chosen(20, 20, Spacing::kLogSnr).size(), 20U);
}

TEST(Timesteps, RefusesImpossibleCounts) {
  const auto schedule = cosine_schedule(250);
  ASSERT_TRUE(schedule.ok());
  for (const int steps : {-3, 0, 251}) {
    const auto refused = choose_timesteps(*schedule, steps, Spacing::kTimestep);
    ASSERT_FALSE(refused.ok()) << steps;
    EXPECT_EQ(refused.error().code, ErrorCode::kInvalidInput);
    EXPECT_EQ(refused.error().message, std::to_string(steps) +
                                           " steps: expected 1 to 250, the length of the model's "
                                           "schedule");
  }
}

TEST(Spacing, NamesRoundTripAndOthersAreRefused) {
  for (const Spacing spacing : {Spacing::kTimestep, Spacing::kLogSnr}) {
    const auto parsed = spacing_from_name(name_of(spacing));
    ASSERT_TRUE(parsed.ok());
    EXPECT_EQ(*parsed, spacing);
  }
  const auto refused = spacing_from_name("karras");
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().message, "spacing `karras`: unknown; expected t or logsnr");
}

}  // namespace
}  // namespace mezzotint
