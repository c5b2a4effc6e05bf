// Samplers on data whose exact denoiser is known: independent normals with mean kMean and standard
// deviation kSpread. Then the best noise prediction is linear in x, and the probability-flow
// equation has the solution x(t) = sqrt(abar) kMean + spread(t) xi with xi constant in time. Clean
// predictions stay within [-1, 1], so nothing is clamped.
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "base/noise.h"
#include "diffusion/sampler.h"

namespace mezzotint {
namespace {

constexpr double kMean = 0.2;
constexpr double kSpread = 0.1;

Schedule schedule_of(int timesteps) {
  auto schedule = cosine_schedule(timesteps);
  EXPECT_TRUE(schedule.ok());
  return *std::move(schedule);
}

// Variance of x at abar.
double variance_at(double abar) {
  return abar * kSpread * kSpread + 1.0 - abar;
}

Denoiser exact_denoiser(const Schedule& schedule) {
  return [&schedule](std::span<const float> x, int timestep, std::span<float> eps) {
    const double abar = schedule.alphas_cumprod[timestep];
    const double scale = std::sqrt(1.0 - abar) / variance_at(abar);
    for (std::size_t i = 0; i < x.size(); ++i) {
      eps[i] = static_cast<float>(scale * (x[i] - std::sqrt(abar) * kMean));
    }
    return Status();
  };
}

NoiseSource seeded_noise() {
  return [](int draw, std::span<float> out) {
    fill_normal({3, 0, static_cast<std::uint32_t>(draw)}, 0, out);
    return Status();
  };
}

// steps + 1 timesteps even in lambda from -2 to 5: where the flow moves, and away from the ends, at
// which neighbouring timesteps lie far apart in lambda.
std::vector<int> even_in_lambda(const Schedule& schedule, int steps) {
  std::vector<int> timesteps;
  int t = schedule.timesteps() - 1;
  for (int i = 0; i <= steps; ++i) {
    const double target = -2.0 + 7.0 * i / steps;
    while (schedule.half_log_snr(t) < target) {
      --t;
    }
    timesteps.push_back(t);
  }
  return timesteps;
}

// Largest deviation from the exact flow at the last timestep (before the jump to x0).
double flow_error(const Schedule& schedule, SamplerKind kind, bool raw_eps, int steps) {
  SamplerOptions options;
  options.kind = kind;
  options.raw_eps = raw_eps;
  options.timesteps = even_in_lambda(schedule, steps);
  const double from = schedule.alphas_cumprod[options.timesteps.front()];
  const double to = schedule.alphas_cumprod[options.timesteps.back()];
  std::vector<float> x;
  for (int i = -4; i <= 4; ++i) {
    x.push_back(static_cast<float>(std::sqrt(from) * kMean + std::sqrt(variance_at(from)) * i / 2));
  }
  double error = 0.0;
  const StepCallback compare = [&](const StepInfo& step, std::span<const float> now) {
    if (step.index == steps - 1) {
      for (int i = -4; i <= 4; ++i) {
        const double exact = std::sqrt(to) * kMean + std::sqrt(variance_at(to)) * i / 2;
        error = std::max(error, std::fabs(now[i + 4] - exact));
      }
    }
    return Status();
  };
  std::vector<float> workspace(
      sampler_workspace_floats(options, static_cast<std::int64_t>(x.size())));
  EXPECT_TRUE(sample(schedule, options, exact_denoiser(schedule), nullptr, compare, ThreadTeam(1),
                     x, workspace)
                  .ok());
  return error;
}

class FlowTest : public testing::Test {
 protected:
  const Schedule schedule_ = schedule_of(100000);  // timesteps dense enough to be even in lambda
};

TEST_F(FlowTest, DdimConvergesWithOrderOne) {
  for (const bool raw_eps : {false, true}) {
    for (const int steps : {20, 40, 80}) {
      const double order = std::log2(flow_error(schedule_, SamplerKind::kDdim, raw_eps, steps) /
                                     flow_error(schedule_, SamplerKind::kDdim, raw_eps, 2 * steps));
      EXPECT_NEAR(order, 1.0, 0.15) << steps << " steps, raw_eps " << raw_eps;
    }
  }
}

TEST_F(FlowTest, Dpmpp2mConvergesWithOrderTwo) {
  for (const int steps : {20, 40, 80}) {
    const double order = std::log2(flow_error(schedule_, SamplerKind::kDpmpp2m, false, steps) /
                                   flow_error(schedule_, SamplerKind::kDpmpp2m, false, 2 * steps));
    EXPECT_NEAR(order, 2.0, 0.3) << steps << " steps";
  }
}

TEST_F(FlowTest, Dpmpp2mNeedsFewerStepsThanDdim) {
  EXPECT_LT(flow_error(schedule_, SamplerKind::kDpmpp2m, false, 20),
            flow_error(schedule_, SamplerKind::kDdim, false, 80));
}

struct Moments {
  double mean = 0.0;
  double variance = 0.0;
};

Moments moments_of(const std::vector<float>& values) {
  const auto n = static_cast<double>(values.size());
  Moments moments;
  for (const float value : values) {
    moments.mean += value / n;
  }
  for (const float value : values) {
    moments.variance += std::pow(value - moments.mean, 2) / n;
  }
  return moments;
}

// What the ancestral chain must give, carried through the schedule's own posterior: every step is
// linear in x, so mean and variance are exact for the finite chain.
Moments ancestral_moments(const Schedule& schedule) {
  Moments moments{0.0, 1.0};
  for (int t = schedule.timesteps() - 1; t >= 0; --t) {
    const double abar = schedule.alphas_cumprod[t];
    const double gain = std::sqrt(abar) * kSpread * kSpread / variance_at(abar);  // of x in x0
    const double offset = kMean - gain * std::sqrt(abar) * kMean;
    const double coef1 = schedule.posterior_mean_coef1[t];
    const double slope = coef1 * gain + schedule.posterior_mean_coef2[t];
    moments.mean = slope * moments.mean + coef1 * offset;
    moments.variance = slope * slope * moments.variance + schedule.posterior_variance[t];
  }
  return moments;
}

// The posterior's variance leaves out what x does not tell about x0; that error is of order 1 / T.
TEST(Ancestral, TheChainApproachesTheDataAsItGrows) {
  const auto spread_error = [](int timesteps) {
    const Moments moments = ancestral_moments(schedule_of(timesteps));
    EXPECT_NEAR(moments.mean, kMean, 1e-3) << timesteps;
    return std::fabs(std::sqrt(moments.variance) - kSpread);
  };
  EXPECT_NEAR(std::log2(spread_error(1000) / spread_error(2000)), 1.0, 0.15);
  EXPECT_NEAR(std::log2(spread_error(2000) / spread_error(4000)), 1.0, 0.15);
}

TEST(Ancestral, DdpmAndDdimWithEtaOneGiveItsDistribution) {
  constexpr int kCount = 20000;
  const Schedule schedule = schedule_of(250);
  const Moments expected = ancestral_moments(schedule);
  for (const SamplerKind kind : {SamplerKind::kDdpm, SamplerKind::kDdim}) {
    SamplerOptions options;
    options.kind = kind;
    options.eta = kind == SamplerKind::kDdim ? 1.0 : 0.0;
    for (int t = 249; t >= 0; --t) {
      options.timesteps.push_back(t);
    }
    std::vector<float> x(kCount);
    ASSERT_TRUE(seeded_noise()(0, x).ok());
    std::vector<float> workspace(sampler_workspace_floats(options, kCount));
    ASSERT_TRUE(sample(schedule, options, exact_denoiser(schedule), seeded_noise(), nullptr,
                       ThreadTeam(2), x, workspace)
                    .ok());
    const Moments actual = moments_of(x);
    // Four standard errors of the estimates.
    EXPECT_NEAR(actual.mean, expected.mean, 4 * std::sqrt(expected.variance / kCount));
    EXPECT_NEAR(actual.variance, expected.variance, 4 * expected.variance * std::sqrt(2.0 / kCount))
        << name_of(kind);
  }
}

}  // namespace
}  // namespace mezzotint
