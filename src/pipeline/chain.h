// A chain of denoising steps, as a request words it.
#pragma once

#include "diffusion/sampler.h"
#include "diffusion/schedule.h"
#include "mezzotint/generate.h"
#include "pipeline/model.h"

namespace mezzotint {

struct Chain {
  Schedule schedule;
  SamplerOptions options;
  int draws = 0;  // noise values asked for after the first
};

// Sampler, steps, eta, spacing and timesteps of the request, checked against each other and the
// model. kInvalidInput names the word that cannot be.
Result<Chain> make_chain(const GenerateRequest& request, const Model& model);

}  // namespace mezzotint
