#include "diffusion/schedule.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

namespace mezzotint {
namespace {

Schedule schedule_of(int timesteps) {
  auto schedule = cosine_schedule(timesteps);
  EXPECT_TRUE(schedule.ok());
  return *std::move(schedule);
}

TEST(CosineSchedule, RefusesLengthsOutsideItsBounds) {
  for (const int timesteps : {-1, 0, 1, 100001}) {
    const auto refused = cosine_schedule(timesteps);
    ASSERT_FALSE(refused.ok()) << timesteps;
    EXPECT_EQ(refused.error().code, ErrorCode::kInvalidInput);
    EXPECT_EQ(refused.error().message,
              "schedule of " + std::to_string(timesteps) + " timesteps: expected 2 to 100000");
  }
  EXPECT_TRUE(cosine_schedule(2).ok());
  EXPECT_TRUE(cosine_schedule(100000).ok());
}

TEST(CosineSchedule, OnlyTheLastBetaIsClipped) {
  for (const int timesteps : {20, 250, 1000, 100000}) {
    const Schedule schedule = schedule_of(timesteps);
    EXPECT_EQ(schedule.timesteps(), timesteps);
    EXPECT_EQ(schedule.betas.back(), 0.999);
    EXPECT_LT(*std::max_element(schedule.betas.begin(), schedule.betas.end() - 1), 0.999);
    EXPECT_GT(*std::min_element(schedule.betas.begin(), schedule.betas.end()), 0.0);
  }
}

// Until the clipped beta, alphas_cumprod is f(t+1)/f(0) itself. Relative error of the product: one
// rounding each for T factors and the cosine's own near pi/2.
TEST(CosineSchedule, AlphasFollowTheFormula) {
  constexpr int kTimesteps = 250;
  const Schedule schedule = schedule_of(kTimesteps);
  const auto f = [](int i) {
    const long double c =
        std::cos((static_cast<long double>(i) / kTimesteps + 0.008L) / 1.008L * std::acos(0.0L));
    return c * c;
  };
  for (int t = 0; t < kTimesteps - 1; ++t) {
    const auto expected = static_cast<double>(f(t + 1) / f(0));
    ASSERT_NEAR(schedule.alphas_cumprod[t], expected, 1e-12 * expected) << t;
  }
}

TEST(CosineSchedule, NoiseOnlyGrows) {
  for (const int timesteps : {2, 250, 100000}) {
    const Schedule schedule = schedule_of(timesteps);
    for (int t = 1; t < timesteps; ++t) {
      ASSERT_LT(schedule.alphas_cumprod[t], schedule.alphas_cumprod[t - 1]) << t;
      ASSERT_LT(schedule.half_log_snr(t), schedule.half_log_snr(t - 1)) << t;
    }
    EXPECT_GT(schedule.alphas_cumprod.back(), 0.0);
    EXPECT_LT(schedule.alphas_cumprod.front(), 1.0);
  }
}

TEST(CosineSchedule, BuffersFitTogether) {
  const Schedule schedule = schedule_of(20);
  for (int t = 0; t < 20; ++t) {
    const double abar = schedule.alphas_cumprod[t];
    EXPECT_EQ(schedule.alphas_cumprod_prev[t], t == 0 ? 1.0 : schedule.alphas_cumprod[t - 1]);
    EXPECT_NEAR(std::pow(schedule.sqrt_alphas_cumprod[t], 2) +
                    std::pow(schedule.sqrt_one_minus_alphas_cumprod[t], 2),
                1.0, 1e-15);
    EXPECT_NEAR(std::exp(schedule.log_one_minus_alphas_cumprod[t]), 1.0 - abar, 1e-15);
    EXPECT_NEAR(std::pow(schedule.sqrt_recip_alphas_cumprod[t], 2) -
                    std::pow(schedule.sqrt_recipm1_alphas_cumprod[t], 2),
                1.0, 4e-16 / abar);
    EXPECT_EQ(schedule.posterior_mean_coef3[t], 1.0 - schedule.posterior_mean_coef2[t]);
  }
  EXPECT_EQ(schedule.posterior_variance[0], 0.0);
  EXPECT_EQ(schedule.posterior_log_variance_clipped[0], std::log(1e-20));
  EXPECT_EQ(schedule.posterior_mean_coef2[0], 0.0);
}

TEST(ScheduleBuffers, AreThirteenDistinctOnesOfFullLength) {
  const Schedule schedule = schedule_of(20);
  std::set<std::string_view> names;
  std::set<const void*> places;
  for (const ScheduleBuffer& buffer : schedule_buffers()) {
    names.insert(buffer.name);
    places.insert(&(schedule.*buffer.values));
    EXPECT_EQ((schedule.*buffer.values).size(), 20U) << buffer.name;
  }
  EXPECT_EQ(names.size(), 13U);
  EXPECT_EQ(places.size(), 13U);
}

}  // namespace
}  // namespace mezzotint
