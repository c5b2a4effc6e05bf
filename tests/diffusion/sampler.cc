// What a step computes, and how the chain behaves around it.
#include "diffusion/sampler.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "base/error.h"
#include "base/noise.h"
#include "diffusion/timesteps.h"

namespace mezzotint {
namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInfinity = std::numeric_limits<float>::infinity();

Schedule schedule_of(int timesteps) {
  auto schedule = cosine_schedule(timesteps);
  EXPECT_TRUE(schedule.ok());
  return *std::move(schedule);
}

std::vector<int> all_timesteps(int length) {
  std::vector<int> timesteps(length);
  for (int i = 0; i < length; ++i) {
    timesteps[i] = length - 1 - i;
  }
  return timesteps;
}

SamplerOptions options_of(SamplerKind kind, std::vector<int> timesteps, double eta = 0.0) {
  SamplerOptions options;
  options.kind = kind;
  options.timesteps = std::move(timesteps);
  options.eta = eta;
  return options;
}

NoiseSource seeded_noise(std::uint64_t seed) {
  return [seed](int draw, std::span<float> out) {
    fill_normal({seed, 0, static_cast<std::uint32_t>(draw)}, 0, out);
    return Status();
  };
}

// A smooth denoiser that depends on everything it is given.
Status wavy(std::span<const float> x, int timestep, std::span<float> eps) {
  for (std::size_t i = 0; i < x.size(); ++i) {
    eps[i] = 0.8F * x[i] + 0.1F * std::sin(static_cast<float>(timestep + static_cast<int>(i % 7)));
  }
  return {};
}

struct Chain {
  Schedule schedule = schedule_of(20);
  SamplerOptions options = options_of(SamplerKind::kDdpm, all_timesteps(20));
  Denoiser denoiser = wavy;
  NoiseSource noise = seeded_noise(1);
  StepCallback after_step;
  int threads = 1;

  Status run(std::vector<float>& x) const {
    const auto elements = static_cast<std::int64_t>(x.size());
    std::vector<float> workspace(sampler_workspace_floats(options, elements));
    return sample(schedule, options, denoiser, noise, after_step, ThreadTeam(threads), x,
                  workspace);
  }
};

std::vector<float> start(std::size_t count) {
  std::vector<float> x(count);
  fill_normal({9, 0, 0}, 0, x);
  return x;
}

// Differences 1 - abar cancel; relative to the smallest of them, beta_0, a few roundings.
double tolerance(const Schedule& schedule) {
  return 8 * std::numeric_limits<double>::epsilon() / schedule.betas[0];
}

TEST(StepCoefficients, DdpmOnTheWholeScheduleIsThePosterior) {
  for (const int length : {20, 250, 1000}) {
    const Schedule schedule = schedule_of(length);
    const SamplerOptions options = options_of(SamplerKind::kDdpm, all_timesteps(length));
    const double relative = tolerance(schedule);
    for (int i = 0; i < length; ++i) {
      const int t = length - 1 - i;
      const StepCoefficients step = step_coefficients(schedule, options, i);
      const double deviation = std::exp(0.5 * schedule.posterior_log_variance_clipped[t]);
      ASSERT_EQ(step.clean_from_x, schedule.sqrt_recip_alphas_cumprod[t]);
      ASSERT_EQ(step.clean_from_eps, schedule.sqrt_recipm1_alphas_cumprod[t]);
      const double coef1 = schedule.posterior_mean_coef1[t];
      const double coef2 = schedule.posterior_mean_coef2[t];
      ASSERT_NEAR(step.clean, coef1, relative * coef1) << t;
      ASSERT_NEAR(step.x, coef2, relative * coef2) << t;
      ASSERT_NEAR(step.noise, t > 0 ? deviation : 0.0, relative * deviation) << t;
      ASSERT_EQ(step.eps, 0.0);
      ASSERT_EQ(step.previous_clean, 0.0);
    }
  }
}

// The paper's form: x' = sqrt(as) x0 + sqrt(1 - as - sigma^2) eps' + sigma z, for x = 0.7, eps =
// -0.3 chosen so that x0 stays within its limits.
TEST(StepCoefficients, DdimIsThePublishedFormula) {
  const Schedule schedule = schedule_of(250);
  for (const double eta : {0.0, 0.3, 1.0}) {
    SamplerOptions options = options_of(SamplerKind::kDdim, {200, 120, 30, 5}, eta);
    for (int i = 0; i + 1 < 4; ++i) {
      const double a = schedule.alphas_cumprod[options.timesteps[i]];
      const double as = schedule.alphas_cumprod[options.timesteps[i + 1]];
      const double x = 0.7;
      const double x0 = -0.25;
      const double z = 1.3;
      const double sigma = eta * std::sqrt((1 - as) / (1 - a) * (1 - a / as));
      const double eps = (x - std::sqrt(a) * x0) / std::sqrt(1 - a);
      const double expected =
          std::sqrt(as) * x0 + std::sqrt(1 - as - sigma * sigma) * eps + sigma * z;
      for (const bool raw : {false, true}) {
        options.raw_eps = raw;
        const StepCoefficients c = step_coefficients(schedule, options, i);
        EXPECT_NEAR(c.x * x + c.clean * x0 + c.eps * eps + c.noise * z, expected, 1e-14);
        EXPECT_NEAR(c.clean_from_x * x - c.clean_from_eps * eps, x0, 1e-14 / std::sqrt(a));
        EXPECT_EQ(c.eps != 0.0, raw);
      }
    }
  }
}

TEST(StepCoefficients, DdimWithEtaOneIsDdpmOnAnyTimesteps) {
  const Schedule schedule = schedule_of(250);
  const std::vector<int> timesteps = {249, 200, 199, 60, 3, 0};
  for (int i = 0; i < 6; ++i) {
    const StepCoefficients ddim =
        step_coefficients(schedule, options_of(SamplerKind::kDdim, timesteps, 1.0), i);
    const StepCoefficients ddpm =
        step_coefficients(schedule, options_of(SamplerKind::kDdpm, timesteps), i);
    EXPECT_NEAR(ddim.x, ddpm.x, 1e-12) << i;
    EXPECT_NEAR(ddim.clean, ddpm.clean, 1e-12) << i;
    EXPECT_NEAR(ddim.noise, ddpm.noise, 1e-12) << i;
  }
}

// The paper's form: x' = sqrt((1-as)/(1-a)) x - sqrt(as) (exp(-h) - 1) D.
TEST(StepCoefficients, Dpmpp2mIsThePublishedFormula) {
  const Schedule schedule = schedule_of(250);
  const SamplerOptions options = options_of(SamplerKind::kDpmpp2m, {249, 180, 100, 40, 0});
  for (int i = 0; i + 1 < 5; ++i) {
    const int t = options.timesteps[i];
    const int s = options.timesteps[i + 1];
    const double as = schedule.alphas_cumprod[s];
    const double h = schedule.half_log_snr(s) - schedule.half_log_snr(t);
    const double x = 0.7;
    const double x0 = -0.25;
    const double x0_before = 0.4;
    double d = x0;
    if (i > 0) {
      const double r =
          (schedule.half_log_snr(t) - schedule.half_log_snr(options.timesteps[i - 1])) / h;
      d = (1 + 1 / (2 * r)) * x0 - 1 / (2 * r) * x0_before;
    }
    const double expected = std::sqrt((1 - as) / (1 - schedule.alphas_cumprod[t])) * x -
                            std::sqrt(as) * (std::exp(-h) - 1) * d;
    const StepCoefficients c = step_coefficients(schedule, options, i);
    EXPECT_NEAR(c.x * x + c.clean * x0 + c.previous_clean * x0_before, expected, 1e-13) << i;
    EXPECT_EQ(c.noise, 0.0);
    EXPECT_EQ(c.eps, 0.0);
  }
}

TEST(StepCoefficients, EveryChainEndsWithTheCleanPrediction) {
  const Schedule schedule = schedule_of(20);
  for (const SamplerKind kind : {SamplerKind::kDdpm, SamplerKind::kDdim, SamplerKind::kDpmpp2m}) {
    for (const std::vector<int>& timesteps : {std::vector<int>{19, 7, 0}, {19}}) {
      const StepCoefficients step = step_coefficients(schedule, options_of(kind, timesteps),
                                                      static_cast<int>(timesteps.size()) - 1);
      EXPECT_EQ(step.clean, 1.0);
      EXPECT_EQ(step.x, 0.0);
      EXPECT_EQ(step.previous_clean, 0.0);
      EXPECT_EQ(step.eps, 0.0);
      EXPECT_EQ(step.noise, 0.0);
    }
  }
}

TEST(Sample, ClampsTheCleanPrediction) {
  Chain chain;
  chain.options = options_of(SamplerKind::kDdim, {10});
  chain.denoiser = [](std::span<const float>, int, std::span<float> eps) {
    std::fill(eps.begin(), eps.end(), 0.0F);
    return Status();
  };
  const double scale = chain.schedule.sqrt_recip_alphas_cumprod[10];
  std::vector<float> x = {0.25F, 5.0F, -5.0F};
  ASSERT_TRUE(chain.run(x).ok());
  EXPECT_EQ(x, (std::vector<float>{static_cast<float>(0.25 * scale), 1.0F, -1.0F}));
}

// The second step uses the first step's prediction: a loop that forgets it is off by far more.
TEST(Sample, Dpmpp2mRemembersThePredictionBefore) {
  Chain chain;
  chain.options = options_of(SamplerKind::kDpmpp2m, {15, 9, 4, 0});
  std::vector<float> x = start(50);
  std::vector<double> expected(x.begin(), x.end());
  std::vector<double> before(x.size(), 0.0);
  std::vector<float> eps(x.size());
  for (int i = 0; i < 4; ++i) {
    const StepCoefficients c = step_coefficients(chain.schedule, chain.options, i);
    std::vector<float> current(expected.begin(), expected.end());
    ASSERT_TRUE(wavy(current, chain.options.timesteps[i], eps).ok());
    for (std::size_t k = 0; k < x.size(); ++k) {
      const double x0 =
          std::clamp(c.clean_from_x * expected[k] - c.clean_from_eps * eps[k], -1.0, 1.0);
      expected[k] = c.x * expected[k] + c.clean * x0 + c.previous_clean * before[k];
      before[k] = x0;
    }
  }
  ASSERT_TRUE(chain.run(x).ok());
  for (std::size_t k = 0; k < x.size(); ++k) {
    EXPECT_NEAR(x[k], expected[k], 1e-5);
  }
}

TEST(Sample, AsksForTimestepsAndDrawsInOrder) {
  for (const auto& [kind, eta, draws] :
       {std::tuple{SamplerKind::kDdpm, 0.0, std::vector<int>{1, 2}},
        std::tuple{SamplerKind::kDdim, 0.5, std::vector<int>{1, 2}},
        std::tuple{SamplerKind::kDdim, 0.0, std::vector<int>{}},
        std::tuple{SamplerKind::kDpmpp2m, 0.0, std::vector<int>{}}}) {
    Chain chain;
    chain.options = options_of(kind, {19, 8, 0}, eta);
    std::vector<int> visited;
    std::vector<int> drawn;
    std::vector<int> reported;
    chain.denoiser = [&](std::span<const float> x, int timestep, std::span<float> eps) {
      visited.push_back(timestep);
      return wavy(x, timestep, eps);
    };
    chain.noise = [&](int draw, std::span<float> out) {
      drawn.push_back(draw);
      return seeded_noise(1)(draw, out);
    };
    chain.after_step = [&](const StepInfo& step, std::span<const float> x) {
      EXPECT_EQ(step.index, static_cast<int>(reported.size()));
      EXPECT_EQ(step.count, 3);
      EXPECT_EQ(x.size(), 10U);
      reported.push_back(step.timestep);
      return Status();
    };
    std::vector<float> x = start(10);
    ASSERT_TRUE(chain.run(x).ok());
    EXPECT_EQ(visited, (std::vector<int>{19, 8, 0}));
    EXPECT_EQ(reported, visited);
    EXPECT_EQ(drawn, draws) << name_of(kind) << " eta " << eta;
  }
}

TEST(Sample, SameBytesForAnyThreadCount) {
  for (const SamplerKind kind : {SamplerKind::kDdpm, SamplerKind::kDdim, SamplerKind::kDpmpp2m}) {
    Chain chain;
    chain.options = options_of(kind, {19, 12, 5, 0}, kind == SamplerKind::kDdim ? 0.5 : 0.0);
    std::vector<float> one = start(200001);
    ASSERT_TRUE(chain.run(one).ok());
    chain.threads = 3;
    std::vector<float> three = start(200001);
    ASSERT_TRUE(chain.run(three).ok());
    EXPECT_EQ(one, three) << name_of(kind);
  }
}

// Stops `chain` after `stop` steps, in the callback or else in the next evaluation, and goes on
// with copies of what it carries, in a workspace that is otherwise NaN.
std::vector<float> stopped_and_gone_on(const Chain& chain, std::vector<float> x, int stop,
                                       bool in_callback) {
  const auto elements = static_cast<std::int64_t>(x.size());
  const auto floats = static_cast<std::size_t>(sampler_workspace_floats(chain.options, elements));
  const Status stopped = Error{ErrorCode::kCancelled, "stopped"};
  const Denoiser stopping = [&](std::span<const float> values, int timestep, std::span<float> eps) {
    const Status status = wavy(values, timestep, eps);
    return !in_callback && timestep == chain.options.timesteps[stop] ? stopped : status;
  };
  const StepCallback after_step = [&](const StepInfo& step, std::span<const float>) {
    return in_callback && step.index + 1 == stop ? stopped : Status();
  };
  std::vector<float> workspace(floats);
  EXPECT_FALSE(sample(chain.schedule, chain.options, stopping, chain.noise, after_step,
                      ThreadTeam(1), x, workspace)
                   .ok());
  std::vector<float> fresh(floats, kNan);
  std::ranges::copy(carried_values(chain.options, workspace, elements),
                    carried_values(chain.options, fresh, elements).begin());
  int next = stop;
  const StepCallback count = [&](const StepInfo& step, std::span<const float>) {
    EXPECT_EQ(step.index, next++);
    return Status();
  };
  EXPECT_TRUE(sample(chain.schedule, chain.options, chain.denoiser, chain.noise, count,
                     ThreadTeam(1), x, fresh, stop)
                  .ok());
  EXPECT_EQ(next, static_cast<int>(chain.options.timesteps.size()));
  return x;
}

TEST(Sample, GoesOnToTheSameBytesFromAnyStep) {
  for (const auto& [kind, eta, raw_eps] :
       {std::tuple{SamplerKind::kDdpm, 0.0, false}, std::tuple{SamplerKind::kDdim, 0.0, false},
        std::tuple{SamplerKind::kDdim, 0.6, false}, std::tuple{SamplerKind::kDdim, 0.6, true},
        std::tuple{SamplerKind::kDpmpp2m, 0.0, false}}) {
    Chain chain;
    chain.options = options_of(kind, {19, 14, 9, 4, 2, 0}, eta);
    chain.options.raw_eps = raw_eps;
    std::vector<float> whole = start(1000);
    ASSERT_TRUE(chain.run(whole).ok());
    for (int stop = 0; stop < 6; ++stop) {
      EXPECT_EQ(stopped_and_gone_on(chain, start(1000), stop, false), whole)
          << name_of(kind) << " eta " << eta << ", stopped in step " << stop + 1;
      EXPECT_EQ(stopped_and_gone_on(chain, start(1000), stop + 1, true), whole)
          << name_of(kind) << " eta " << eta << ", stopped after step " << stop + 1;
    }
  }
}

TEST(Sample, StopsWithTheCallbacksError) {
  const Error stop = make_error(ErrorCode::kCancelled, "stopped by the caller");
  int steps = 0;
  Chain chain;
  chain.after_step = [&](const StepInfo& step, std::span<const float>) {
    ++steps;
    return step.index == 2 ? Status(stop) : Status();
  };
  std::vector<float> x = start(10);
  const Status stopped = chain.run(x);
  ASSERT_FALSE(stopped.ok());
  EXPECT_EQ(stopped.error().code, ErrorCode::kCancelled);
  EXPECT_EQ(stopped.error().message, "stopped by the caller");
  EXPECT_EQ(steps, 3);

  chain.after_step = nullptr;
  chain.noise = [&](int, std::span<float>) { return Status(stop); };
  EXPECT_EQ(chain.run(x).error().message, "stopped by the caller");
  chain.denoiser = [&](std::span<const float>, int, std::span<float>) {
    return Status(invalid_input("the network refuses"));
  };
  EXPECT_EQ(chain.run(x).error().message, "the network refuses");
}

// An infinity would vanish in the clamp: it must be seen before.
TEST(Sample, NonFinitePredictionNamesTheStep) {
  for (const float bad : {kNan, kInfinity, -kInfinity}) {
    Chain chain;
    chain.denoiser = [bad](std::span<const float> x, int timestep, std::span<float> eps) {
      const Status status = wavy(x, timestep, eps);
      if (timestep == 17) {
        eps[4] = bad;
        eps[9] = bad;
      }
      return status;
    };
    std::vector<float> x = start(10);
    const Status failed = chain.run(x);
    ASSERT_FALSE(failed.ok());
    EXPECT_EQ(failed.error().code, ErrorCode::kNumerics);
    EXPECT_TRUE(failed.error().message.starts_with(
        "step 3 of 20 (timestep 17): 2 of 10 predicted noise values are not finite"))
        << failed.error().message;
  }
}

TEST(Sample, NonFiniteNoiseNamesTheStep) {
  Chain chain;
  chain.noise = [](int draw, std::span<float> out) {
    std::fill(out.begin(), out.end(), draw == 2 ? kInfinity : 0.0F);
    return Status();
  };
  std::vector<float> x = start(10);
  const Status failed = chain.run(x);
  ASSERT_FALSE(failed.ok());
  EXPECT_EQ(failed.error().code, ErrorCode::kNumerics);
  EXPECT_TRUE(failed.error().message.starts_with(
      "step 2 of 20 (timestep 18): 10 of 10 image values are not finite"))
      << failed.error().message;
}

TEST(CheckOptions, RefusesWhatContradicts) {
  const Schedule schedule = schedule_of(20);
  const auto message = [&](const SamplerOptions& options) {
    const Status status = check_options(schedule, options);
    return status.ok() ? std::string("accepted") : status.error().message;
  };
  const auto starts = [&](const SamplerOptions& options, const std::string& expected) {
    EXPECT_TRUE(message(options).starts_with(expected)) << message(options);
  };
  EXPECT_EQ(message(options_of(SamplerKind::kDdim, {19, 0}, 1.0)), "accepted");
  starts(options_of(SamplerKind::kDdim, {}), "sampler ddim: no timesteps");
  starts(options_of(SamplerKind::kDdpm, {20, 0}), "sampler ddpm: timestep 20");
  starts(options_of(SamplerKind::kDdpm, {19, -1}), "sampler ddpm: timestep -1 after 19");
  starts(options_of(SamplerKind::kDdpm, {5, 5}), "sampler ddpm: timestep 5 after 5");
  starts(options_of(SamplerKind::kDdpm, {5, 7}), "sampler ddpm: timestep 7 after 5");
  starts(options_of(SamplerKind::kDdim, {19}, 1.5), "eta 1.5: expected 0");
  starts(options_of(SamplerKind::kDdim, {19}, kNan), "eta nan: expected 0");
  starts(options_of(SamplerKind::kDpmpp2m, {19}, 0.5), "eta 0.5: only the sampler ddim");
  SamplerOptions raw = options_of(SamplerKind::kDdpm, {19});
  raw.raw_eps = true;
  starts(raw, "raw noise prediction: only the sampler ddim");
}

TEST(CheckOptions, AreCheckedBySampleItself) {
  Chain chain;
  chain.options.timesteps = {0, 1};
  std::vector<float> x = start(4);
  const Status refused = chain.run(x);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, ErrorCode::kInvalidInput);
}

TEST(SamplerNames, RoundTripAndOthersAreRefused) {
  for (const SamplerKind kind : {SamplerKind::kDdpm, SamplerKind::kDdim, SamplerKind::kDpmpp2m}) {
    const auto parsed = sampler_from_name(name_of(kind));
    ASSERT_TRUE(parsed.ok());
    EXPECT_EQ(*parsed, kind);
  }
  const auto refused = sampler_from_name("euler");
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, ErrorCode::kInvalidInput);
  EXPECT_EQ(refused.error().message, "sampler `euler`: unknown; expected ddpm, ddim or dpmpp-2m");
}

}  // namespace
}  // namespace mezzotint
