// The noise schedule: how much of the clean image is left at each timestep.
#pragma once

#include <array>
#include <string_view>
#include <vector>

#include "mezzotint/result.h"

namespace mezzotint {

// All buffers a Med-DDPM checkpoint carries, in double, each with one value per timestep t = 0 ..
// T-1. Definitions: Ho, Jain, Abbeel: "Denoising diffusion probabilistic models", 2020, equations 4
// to 7. posterior_mean_coef3 is a Med-DDPM extra, 1 - posterior_mean_coef2, multiplied by zero
// there.
struct Schedule {
  std::vector<double> betas;
  std::vector<double> alphas_cumprod;       // strictly decreasing, in (0, 1)
  std::vector<double> alphas_cumprod_prev;  // shifted by one, 1 at t = 0
  std::vector<double> sqrt_alphas_cumprod;
  std::vector<double> sqrt_one_minus_alphas_cumprod;
  std::vector<double> log_one_minus_alphas_cumprod;
  std::vector<double> sqrt_recip_alphas_cumprod;
  std::vector<double> sqrt_recipm1_alphas_cumprod;
  std::vector<double> posterior_variance;
  std::vector<double> posterior_log_variance_clipped;  // ln(max(posterior_variance, 1e-20))
  std::vector<double> posterior_mean_coef1;            // of x0
  std::vector<double> posterior_mean_coef2;            // of x_t
  std::vector<double> posterior_mean_coef3;

  [[nodiscard]] int timesteps() const { return static_cast<int>(betas.size()); }
  // lambda(t) = ln(sqrt(abar) / sqrt(1 - abar)), half the logarithm of the signal-to-noise ratio.
  [[nodiscard]] double half_log_snr(int timestep) const;
};

// The same of an alphas_cumprod in (0, 1), whichever its timestep.
[[nodiscard]] double half_log_snr_at(double abar);

// A buffer's name in a checkpoint, and where it lives.
struct ScheduleBuffer {
  std::string_view name;
  std::vector<double> Schedule::*values;
};
inline constexpr int kScheduleBufferCount = 13;
[[nodiscard]] const std::array<ScheduleBuffer, kScheduleBufferCount>& schedule_buffers();

inline constexpr int kMinTimesteps = 2;
inline constexpr int kMaxTimesteps = 100000;

// The cosine schedule (Nichol, Dhariwal: "Improved denoising diffusion probabilistic models", 2021)
// with s = 0.008: f(i) = cos^2((i/T + s)/(1 + s) pi/2) for i = 0 .. T, beta_i = 1 - f(i+1)/f(i)
// clipped to [0, 0.999]; alphas_cumprod follow from the clipped betas. kInvalidInput when
// `timesteps` is not within kMinTimesteps .. kMaxTimesteps.
Result<Schedule> cosine_schedule(int timesteps);

}  // namespace mezzotint
