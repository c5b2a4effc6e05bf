#include "pipeline/run_chain.h"

#include <cstdint>

#include "base/cancel.h"
#include "base/noise.h"

namespace mezzotint {
namespace {

constexpr std::uint64_t kSeed = 0;

}  // namespace

Result<std::vector<float>> run_chain(Session& session, const Chain& chain, const RunOptions& run,
                                     const ChainEvents& events) {
  const std::int64_t elements = session.elements();
  const int steps = static_cast<int>(chain.options.timesteps.size());
  std::vector<float> x(static_cast<std::size_t>(elements));
  std::vector<float> workspace(
      static_cast<std::size_t>(sampler_workspace_floats(chain.options, elements)));
  const auto noise = [&](int draw, std::span<float> out) -> Status {
    fill_normal({kSeed, 0, static_cast<std::uint32_t>(draw)}, out, run.team);
    return {};
  };
  int step = 0;
  const auto denoise = [&](std::span<const float> in, int /*timestep*/,
                           std::span<float> eps) -> Status {
    if (events.before && !events.before(step, steps)) {
      return stopped();
    }
    if (Status status = session.evaluate(in, step, eps, run); !status) {
      return status;
    }
    if (events.after) {
      events.after(step, in, eps);
    }
    ++step;
    return {};
  };
  if (Status status = noise(0, x); !status) {
    return status.error();
  }
  if (Status status =
          sample(chain.schedule, chain.options, denoise, noise, {}, run.team, x, workspace);
      !status) {
    return status.error();
  }
  return x;
}

}  // namespace mezzotint
