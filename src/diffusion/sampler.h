// Samplers: from pure noise to an image, given a network that predicts the noise.
//
// A step of any sampler here is one linear combination per element, so a sampler is a rule for its
// coefficients (step_coefficients) and the loop is shared. Coefficients and arithmetic are double;
// x and the clean prediction are stored in float. Elements are independent: the result does not
// depend on the thread count. docs/samplers.md has the formulas.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include "base/thread_team.h"
#include "diffusion/schedule.h"
#include "mezzotint/result.h"

namespace mezzotint {

enum class SamplerKind : std::uint8_t {
  kDdpm,     // ancestral: Ho, Jain, Abbeel 2020; on a subset of timesteps with respaced betas
  kDdim,     // Song, Meng, Ermon 2021, equation 12, with eta
  kDpmpp2m,  // DPM-Solver++(2M): Lu et al. 2022, algorithm 2
};

// "ddpm", "ddim", "dpmpp-2m".
[[nodiscard]] std::string_view name_of(SamplerKind kind);
// kInvalidInput names the known samplers.
Result<SamplerKind> sampler_from_name(std::string_view name);

struct SamplerOptions {
  SamplerKind kind = SamplerKind::kDpmpp2m;
  std::vector<int> timesteps;  // strictly descending, within the schedule; see choose_timesteps
  double eta = 0.0;            // kDdim only, 0 (deterministic) .. 1 (as much noise as kDdpm)
  // kDdim only: use the network's noise even where the clean prediction was clamped, instead of
  // deriving the noise again from the clamped prediction.
  bool raw_eps = false;
};

// kInvalidInput when the options contradict each other or the schedule.
Status check_options(const Schedule& schedule, const SamplerOptions& options);

// x0 = clamp(clean_from_x x - clean_from_eps eps, -1, 1), and
// x' = x * .x + x0 * .clean + (x0 of the step before) * .previous_clean + eps * .eps + noise *
// .noise
struct StepCoefficients {
  double clean_from_x = 0.0;
  double clean_from_eps = 0.0;
  double x = 0.0;
  double clean = 0.0;
  double previous_clean = 0.0;
  double eps = 0.0;
  double noise = 0.0;
};
// Of step `index` (0-based) of valid options. After the last step abar is 1: x' = x0.
[[nodiscard]] StepCoefficients step_coefficients(const Schedule& schedule,
                                                 const SamplerOptions& options, int index);

// Predicts the noise in x at a timestep. Both spans have x's length and logical order [C, z, y, x].
using Denoiser =
    std::function<Status(std::span<const float> x, int timestep, std::span<float> eps)>;

// Standard normal values; draw k (from 1) is used after the k-th step. Draw 0 is x_T, which the
// caller has put into x. Draws with a zero coefficient, such as the last, are not asked for.
using NoiseSource = std::function<Status(int draw, std::span<float> out)>;

struct StepInfo {
  int index = 0;  // 0-based
  int count = 0;
  int timestep = 0;
};
// Called after each step with the new x. An error stops the chain and is returned.
using StepCallback = std::function<Status(const StepInfo& step, std::span<const float> x)>;

// Floats of workspace that sample() needs for `elements` values.
[[nodiscard]] std::int64_t sampler_workspace_floats(const SamplerOptions& options,
                                                    std::int64_t elements);

// The part of sample()'s workspace that a chain carries from step to step besides x, for `elements`
// values: for kDpmpp2m the clean prediction of the last step, for the others nothing.
[[nodiscard]] std::int64_t carried_floats(const SamplerOptions& options, std::int64_t elements);
[[nodiscard]] std::span<float> carried_values(const SamplerOptions& options,
                                              std::span<float> workspace, std::int64_t elements);

// x: in x_T, out the clean image in [-1, 1]. Allocates nothing of x's size; `workspace` holds at
// least sampler_workspace_floats values. `noise` and `after_step` may be empty where not needed.
//
// A chain goes on from `finished_steps` (0 .. all of them) when x and carried_values() hold what
// they held after that many steps: the result is the same to the bit. They hold that while a step's
// denoiser and noise run, so when one of these fails, and while after_step runs.
//
// kInvalidInput from check_options, kNumerics at the first step with a non-finite value (x is then
// unspecified), else what the callbacks return.
Status sample(const Schedule& schedule, const SamplerOptions& options, const Denoiser& denoiser,
              const NoiseSource& noise, const StepCallback& after_step, const ThreadTeam& team,
              std::span<float> x, std::span<float> workspace, int finished_steps = 0);

}  // namespace mezzotint
