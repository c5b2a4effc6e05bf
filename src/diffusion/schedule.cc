#include "diffusion/schedule.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "base/check.h"
#include "base/error.h"

namespace mezzotint {
namespace {

constexpr double kOffset = 0.008;
constexpr double kMaxBeta = 0.999;
constexpr double kMinVariance = 1e-20;

double cosine_squared(double fraction) {
  const double c = std::cos((fraction + kOffset) / (1.0 + kOffset) * std::numbers::pi * 0.5);
  return c * c;
}

std::vector<double> cosine_betas(int timesteps) {
  // i/T, rounded as the reference rounds it: T+1 points over 0 .. T+1, divided by T+1. Near the end
  // the cosine is so small that the plain quotient's last bit moves betas by 1e-13.
  const double points = timesteps + 1.0;
  const double step = points / timesteps;
  const double first = cosine_squared(0.0);
  std::vector<double> betas;
  betas.reserve(timesteps);
  double before = 1.0;
  for (int i = 1; i <= timesteps; ++i) {
    const double fraction = i == timesteps ? 1.0 : i * step / points;
    const double after = cosine_squared(fraction) / first;
    betas.push_back(std::clamp(1.0 - after / before, 0.0, kMaxBeta));
    before = after;
  }
  return betas;
}

void append(Schedule& schedule, double beta) {
  const double previous = schedule.alphas_cumprod.empty() ? 1.0 : schedule.alphas_cumprod.back();
  const double alpha = 1.0 - beta;
  const double abar = previous * alpha;
  const double variance = beta * (1.0 - previous) / (1.0 - abar);
  const double coef2 = (1.0 - previous) * std::sqrt(alpha) / (1.0 - abar);
  schedule.betas.push_back(beta);
  schedule.alphas_cumprod.push_back(abar);
  schedule.alphas_cumprod_prev.push_back(previous);
  schedule.sqrt_alphas_cumprod.push_back(std::sqrt(abar));
  schedule.sqrt_one_minus_alphas_cumprod.push_back(std::sqrt(1.0 - abar));
  schedule.log_one_minus_alphas_cumprod.push_back(std::log(1.0 - abar));
  schedule.sqrt_recip_alphas_cumprod.push_back(std::sqrt(1.0 / abar));
  schedule.sqrt_recipm1_alphas_cumprod.push_back(std::sqrt(1.0 / abar - 1.0));
  schedule.posterior_variance.push_back(variance);
  schedule.posterior_log_variance_clipped.push_back(std::log(std::max(variance, kMinVariance)));
  schedule.posterior_mean_coef1.push_back(beta * std::sqrt(previous) / (1.0 - abar));
  schedule.posterior_mean_coef2.push_back(coef2);
  schedule.posterior_mean_coef3.push_back(1.0 - coef2);
}

}  // namespace

double Schedule::half_log_snr(int timestep) const {
  check(timestep >= 0 && timestep < timesteps(), "timestep outside the schedule");
  return half_log_snr_at(alphas_cumprod[timestep]);
}

double half_log_snr_at(double abar) {
  return 0.5 * std::log(abar / (1.0 - abar));
}

const std::array<ScheduleBuffer, kScheduleBufferCount>& schedule_buffers() {
  static constexpr std::array<ScheduleBuffer, kScheduleBufferCount> kBuffers = {{
      {"betas", &Schedule::betas},
      {"alphas_cumprod", &Schedule::alphas_cumprod},
      {"alphas_cumprod_prev", &Schedule::alphas_cumprod_prev},
      {"sqrt_alphas_cumprod", &Schedule::sqrt_alphas_cumprod},
      {"sqrt_one_minus_alphas_cumprod", &Schedule::sqrt_one_minus_alphas_cumprod},
      {"log_one_minus_alphas_cumprod", &Schedule::log_one_minus_alphas_cumprod},
      {"sqrt_recip_alphas_cumprod", &Schedule::sqrt_recip_alphas_cumprod},
      {"sqrt_recipm1_alphas_cumprod", &Schedule::sqrt_recipm1_alphas_cumprod},
      {"posterior_variance", &Schedule::posterior_variance},
      {"posterior_log_variance_clipped", &Schedule::posterior_log_variance_clipped},
      {"posterior_mean_coef1", &Schedule::posterior_mean_coef1},
      {"posterior_mean_coef2", &Schedule::posterior_mean_coef2},
      {"posterior_mean_coef3", &Schedule::posterior_mean_coef3},
  }};
  return kBuffers;
}

Result<Schedule> cosine_schedule(int timesteps) {
  if (timesteps < kMinTimesteps || timesteps > kMaxTimesteps) {
    return invalid_input("schedule of {} timesteps: expected {} to {}", timesteps, kMinTimesteps,
                         kMaxTimesteps);
  }
  Schedule schedule;
  for (const double beta : cosine_betas(timesteps)) {
    append(schedule, beta);
  }
  return schedule;
}

}  // namespace mezzotint
