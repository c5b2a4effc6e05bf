// A whole chain from noise to a volume, as plans and variants are compared by.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "mezzotint/result.h"
#include "pipeline/chain.h"
#include "pipeline/session.h"

namespace mezzotint {

// Each may be empty.
struct ChainEvents {
  // Before each evaluation; false stops the chain: kCancelled.
  std::function<bool(int done, int count)> before;
  // After it. What this makes of eps is what the chain goes on with.
  std::function<void(int step, std::span<const float> x, std::span<float> eps)> after;
};

// The finished volume [C, z, y, x] from the noise of seed 0. The session has been compiled for the
// chain's timesteps and has its weights and its condition.
Result<std::vector<float>> run_chain(Session& session, const Chain& chain, const RunOptions& run,
                                     const ChainEvents& events);

}  // namespace mezzotint
