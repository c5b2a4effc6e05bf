#include "pipeline/chain.h"

#include <algorithm>

#include "base/error.h"
#include "diffusion/timesteps.h"

namespace mezzotint {
namespace {

constexpr int kDefaultSteps = 25;

}  // namespace

Result<Chain> make_chain(const GenerateRequest& request, const Model& model) {
  const auto kind = sampler_from_name(request.sampler);
  if (!kind) {
    return kind.error();
  }
  const auto spacing = spacing_from_name(request.timestep_spacing);
  if (!spacing) {
    return spacing.error();
  }
  if (request.timesteps && model.timesteps && *request.timesteps != *model.timesteps) {
    return invalid_input("timesteps: {}, but {} was trained with {}", *request.timesteps,
                         model.name(), *model.timesteps);
  }
  const auto timesteps = request.timesteps ? request.timesteps : model.timesteps;
  if (!timesteps) {
    return invalid_input("{}: does not say how long its noise schedule is: pass --timesteps",
                         model.path.string());
  }
  auto schedule = cosine_schedule(*timesteps);
  if (!schedule) {
    return schedule.error();
  }
  const int fallback =
      *kind == SamplerKind::kDdpm ? *timesteps : std::min(kDefaultSteps, *timesteps);
  auto chosen = choose_timesteps(*schedule, request.steps.value_or(fallback), *spacing);
  if (!chosen) {
    return chosen.error();
  }
  Chain chain{std::move(*schedule), {}, 0};
  chain.options.kind = *kind;
  chain.options.eta = request.eta;
  chain.options.timesteps = std::move(*chosen);
  if (Status status = check_options(chain.schedule, chain.options); !status) {
    return status.error();
  }
  for (int i = 0; i < static_cast<int>(chain.options.timesteps.size()); ++i) {
    if (step_coefficients(chain.schedule, chain.options, i).noise != 0) {
      chain.draws = i + 1;
    }
  }
  return chain;
}

}  // namespace mezzotint
