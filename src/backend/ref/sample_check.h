// Checks a launch against the law on a sample of its outputs, from the op's actual inputs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "backend/backend.h"
#include "base/thread_team.h"
#include "graph/graph.h"

namespace mezzotint {

struct SampleReport {
  std::int64_t samples = 0;  // distinct positions
  double max_abs_error = 0;  // infinity when a sampled output is not finite
  double rms_error = 0;
  double rms_truth = 0;
  double max_abs_truth = 0;
  double relative_l2 = 0;           // rms_error / rms_truth; 0 when both are 0
  std::vector<std::int64_t> worst;  // logical position of max_abs_error
  double worst_truth = 0;
  double worst_value = 0;
};

struct SampleOptions {
  std::uint64_t seed = 1;
  std::int64_t random_samples = 4096;
  // Bounds the time: fewer random positions are taken when one output element reads many inputs,
  // but at least 64.
  std::int64_t read_budget = 200'000'000;
};

// Recomputes output `output` at all corners, at random positions, and on both sides of the seams
// that tiles of 2, 4, 6, 8, 16, 32 or 64 make along each axis. For an output of channel moments the
// sample consists of whole channels.
// Every input has data: a parameter's is row-major float32, a value's has its layout and dtype.
// Other outputs count as given: a region's moments are checked against its stored result.
[[nodiscard]] SampleReport sample_check(const OpView& view, std::size_t output,
                                        std::span<const Buffer> inputs,
                                        std::span<const Buffer> outputs, const ThreadTeam& team,
                                        const SampleOptions& options = {});

}  // namespace mezzotint
