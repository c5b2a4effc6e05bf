#include "diffusion/sampler.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <utility>

#include "base/check.h"
#include "base/error.h"
#include "base/quote.h"

namespace mezzotint {
namespace {

constexpr std::int64_t kBlock = 65536;  // elements per task: 256 KB of each array, in L2 together

// abar of step `index`, and of the step after it: 1, no noise, after the last.
double abar_of(const Schedule& schedule, const SamplerOptions& options, int index) {
  if (index == static_cast<int>(options.timesteps.size())) {
    return 1.0;
  }
  return schedule.alphas_cumprod[options.timesteps[index]];
}

// Ho et al. 2020, equation 7, with the beta that leads from `next` to `abar` in one step. On the
// whole schedule this is the schedule's posterior.
void set_ddpm(double abar, double next, StepCoefficients& step) {
  const double beta = 1.0 - abar / next;
  step.clean = std::sqrt(next) * beta / (1.0 - abar);
  step.x = std::sqrt(1.0 - beta) * (1.0 - next) / (1.0 - abar);
  step.noise = std::sqrt(beta * (1.0 - next) / (1.0 - abar));
}

// Song et al. 2021, equations 12 and 16. The noise direction is either the network's eps or
// (x - sqrt(abar) x0) / sqrt(1 - abar), which folds into the coefficients of x and x0.
void set_ddim(double abar, double next, double eta, bool raw_eps, StepCoefficients& step) {
  step.noise = eta * std::sqrt((1.0 - next) / (1.0 - abar)) * std::sqrt(1.0 - abar / next);
  const double direction = std::sqrt(std::max(0.0, 1.0 - next - step.noise * step.noise));
  if (raw_eps) {
    step.clean = std::sqrt(next);
    step.eps = direction;
  } else {
    step.x = direction / std::sqrt(1.0 - abar);
    step.clean = std::sqrt(next) - step.x * std::sqrt(abar);
  }
}

// Lu et al. 2022, algorithm 2: DDIM's step with x0 extrapolated from the last two predictions.
// sqrt(next) (exp(-h) - 1) of the paper is minus DDIM's coefficient of x0.
void extrapolate_clean(double previous, double abar, double next, StepCoefficients& step) {
  const double h = half_log_snr_at(next) - half_log_snr_at(abar);
  const double previous_h = half_log_snr_at(abar) - half_log_snr_at(previous);
  const double weight = h / (2.0 * previous_h);
  step.previous_clean = -weight * step.clean;
  step.clean *= 1.0 + weight;
}

bool needs_noise(const SamplerOptions& options) {
  return options.timesteps.size() > 1 &&
         (options.kind == SamplerKind::kDdpm ||
          (options.kind == SamplerKind::kDdim && options.eta > 0.0));
}

// Arrays that a sampler does not have are empty; their coefficients are zero.
struct StepArrays {
  std::span<float> x;  // in and out
  std::span<const float> eps;
  std::span<const float> noise;
  std::span<float> previous_clean;  // in: x0 of the step before; out: this step's
};

struct NonFinite {
  std::int64_t eps = 0;
  std::int64_t x = 0;
};

NonFinite advance_range(const StepCoefficients& step, const StepArrays& arrays, std::int64_t first,
                        std::int64_t last) {
  const bool keeps_clean = !arrays.previous_clean.empty();
  NonFinite bad;
  for (std::int64_t i = first; i < last; ++i) {
    const double x = arrays.x[i];
    const double eps = arrays.eps[i];
    // Stored in float by contract; a NaN passes through the clamp, an infinity does not.
    const auto clean = static_cast<float>(
        std::clamp(step.clean_from_x * x - step.clean_from_eps * eps, -1.0, 1.0));
    double next = step.x * x + step.clean * static_cast<double>(clean) + step.eps * eps;
    if (keeps_clean) {
      next += step.previous_clean * static_cast<double>(arrays.previous_clean[i]);
      arrays.previous_clean[i] = clean;
    }
    if (step.noise != 0.0) {
      next += step.noise * static_cast<double>(arrays.noise[i]);
    }
    arrays.x[i] = static_cast<float>(next);
    bad.eps += std::isfinite(arrays.eps[i]) ? 0 : 1;
    bad.x += std::isfinite(arrays.x[i]) ? 0 : 1;
  }
  return bad;
}

NonFinite advance(const StepCoefficients& step, const StepArrays& arrays, const ThreadTeam& team) {
  const auto elements = static_cast<std::int64_t>(arrays.x.size());
  std::atomic<std::int64_t> bad_eps{0};
  std::atomic<std::int64_t> bad_x{0};
  team.parallel_for((elements + kBlock - 1) / kBlock, [&](std::int64_t block) {
    const std::int64_t first = block * kBlock;
    const NonFinite bad = advance_range(step, arrays, first, std::min(first + kBlock, elements));
    bad_eps += bad.eps;
    bad_x += bad.x;
  });
  return {bad_eps, bad_x};
}

Status finite_or_error(const NonFinite& bad, const StepInfo& step, std::size_t elements) {
  if (bad.eps > 0) {
    return make_error(ErrorCode::kNumerics,
                      "step {} of {} (timestep {}): {} of {} predicted noise values are not "
                      "finite; likely a damaged checkpoint, or one of another network",
                      step.index + 1, step.count, step.timestep, bad.eps, elements);
  }
  if (bad.x > 0) {
    return make_error(ErrorCode::kNumerics,
                      "step {} of {} (timestep {}): {} of {} image values are not finite although "
                      "the predicted noise is; likely the given noise holds such values",
                      step.index + 1, step.count, step.timestep, bad.x, elements);
  }
  return {};
}

}  // namespace

std::string_view name_of(SamplerKind kind) {
  switch (kind) {
    case SamplerKind::kDdpm: return "ddpm";
    case SamplerKind::kDdim: return "ddim";
    case SamplerKind::kDpmpp2m: return "dpmpp-2m";
  }
  return "unknown";
}

Result<SamplerKind> sampler_from_name(std::string_view name) {
  for (const SamplerKind kind : {SamplerKind::kDdpm, SamplerKind::kDdim, SamplerKind::kDpmpp2m}) {
    if (name_of(kind) == name) {
      return kind;
    }
  }
  return invalid_input("sampler {}: unknown; expected ddpm, ddim or dpmpp-2m", in_quotes(name));
}

Status check_options(const Schedule& schedule, const SamplerOptions& options) {
  if (options.timesteps.empty()) {
    return invalid_input("sampler {}: no timesteps given, expected at least one",
                         name_of(options.kind));
  }
  int before = schedule.timesteps();
  for (const int timestep : options.timesteps) {
    if (timestep < 0 || timestep >= before) {
      return invalid_input(
          "sampler {}: timestep {} after {}: expected strictly descending ones from {} or below "
          "to 0",
          name_of(options.kind), timestep, before, schedule.timesteps() - 1);
    }
    before = timestep;
  }
  const bool is_ddim = options.kind == SamplerKind::kDdim;
  if (!(options.eta >= 0.0 && options.eta <= 1.0)) {
    return invalid_input("eta {}: expected 0 (deterministic) to 1 (as much noise as ddpm)",
                         options.eta);
  }
  if (!is_ddim && options.eta != 0.0) {
    return invalid_input("eta {}: only the sampler ddim has it, not {}", options.eta,
                         name_of(options.kind));
  }
  if (!is_ddim && options.raw_eps) {
    return invalid_input("raw noise prediction: only the sampler ddim has it, not {}",
                         name_of(options.kind));
  }
  return {};
}

StepCoefficients step_coefficients(const Schedule& schedule, const SamplerOptions& options,
                                   int index) {
  check(index >= 0 && index < static_cast<int>(options.timesteps.size()),
        "sampler step out of range");
  const double abar = abar_of(schedule, options, index);
  const double next = abar_of(schedule, options, index + 1);
  StepCoefficients step;
  step.clean_from_x = std::sqrt(1.0 / abar);
  step.clean_from_eps = std::sqrt(1.0 / abar - 1.0);
  if (next == 1.0) {
    step.clean = 1.0;
    return step;
  }
  switch (options.kind) {
    case SamplerKind::kDdpm: set_ddpm(abar, next, step); break;
    case SamplerKind::kDdim: set_ddim(abar, next, options.eta, options.raw_eps, step); break;
    case SamplerKind::kDpmpp2m:
      set_ddim(abar, next, 0.0, false, step);
      if (index > 0) {
        extrapolate_clean(abar_of(schedule, options, index - 1), abar, next, step);
      }
      break;
  }
  return step;
}

std::int64_t carried_floats(const SamplerOptions& options, std::int64_t elements) {
  return options.kind == SamplerKind::kDpmpp2m ? elements : 0;
}

std::int64_t sampler_workspace_floats(const SamplerOptions& options, std::int64_t elements) {
  return elements + (needs_noise(options) ? elements : carried_floats(options, elements));
}

std::span<float> carried_values(const SamplerOptions& options, std::span<float> workspace,
                                std::int64_t elements) {
  return workspace.subspan(static_cast<std::size_t>(elements))
      .first(static_cast<std::size_t>(carried_floats(options, elements)));
}

Status sample(const Schedule& schedule, const SamplerOptions& options, const Denoiser& denoiser,
              const NoiseSource& noise, const StepCallback& after_step, const ThreadTeam& team,
              std::span<float> x, std::span<float> workspace, int finished_steps) {
  if (Status status = check_options(schedule, options); !status) {
    return status;
  }
  const auto elements = static_cast<std::int64_t>(x.size());
  const int count = static_cast<int>(options.timesteps.size());
  check(static_cast<std::int64_t>(workspace.size()) >= sampler_workspace_floats(options, elements),
        "sampler workspace too small");
  check(noise || !needs_noise(options), "this sampler needs a noise source");
  check(finished_steps >= 0 && finished_steps <= count, "sampler step out of range");
  const std::span<float> eps = workspace.first(x.size());
  const std::span<float> carried = carried_values(options, workspace, elements);
  const std::span<float> drawn =
      needs_noise(options) ? workspace.subspan(x.size(), x.size()) : std::span<float>();
  const StepArrays arrays{x, eps, drawn, carried};
  if (finished_steps == 0) {
    std::fill(carried.begin(), carried.end(), 0.0F);  // the first step multiplies it by zero
  }
  for (int index = finished_steps; index < count; ++index) {
    const StepInfo info{index, count, options.timesteps[index]};
    const StepCoefficients step = step_coefficients(schedule, options, index);
    if (Status status = denoiser(x, info.timestep, eps); !status) {
      return status;
    }
    if (step.noise != 0.0) {
      if (Status status = noise(index + 1, drawn); !status) {
        return status;
      }
    }
    if (Status status = finite_or_error(advance(step, arrays, team), info, x.size()); !status) {
      return status;
    }
    if (after_step) {
      if (Status status = after_step(info, x); !status) {
        return status;
      }
    }
  }
  return {};
}

}  // namespace mezzotint
