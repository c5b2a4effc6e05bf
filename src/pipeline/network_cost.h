// What one evaluation of a network takes: work and activations per level, and memory as planned.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "backend/backend.h"
#include "graph/machine.h"
#include "mezzotint/cancel.h"
#include "mezzotint/result.h"
#include "models/med_ddpm.h"

namespace mezzotint {

// Of the ops that work on one grid, as the model's builder emits them. A convolution counts where
// its result lies, and FLOPs are those of the direct form.
struct LevelCost {
  std::array<std::int64_t, 3> grid{};  // x, y, z; all 0: vectors, on no grid
  std::int64_t channels = 0;           // of the level's blocks; 0 for vectors
  double conv_flops = 0;
  double attention_flops = 0;
  double other_flops = 0;
  std::uint64_t activation_bytes = 0;  // results of all ops, float32
  std::uint64_t largest_bytes = 0;     // the largest single one
};

// As compiled for this machine, with nothing allocated for weights or activations.
struct MemoryPlan {
  std::uint64_t packed_bytes = 0;
  std::uint64_t arena_bytes = 0;
  // The larger of loading and running; x, condition and prediction included.
  std::uint64_t peak_bytes = 0;
  double predicted_seconds = 0;
};

// Finest level first, then the vectors. kInvalidInput when the network cannot have this grid.
Result<std::vector<LevelCost>> level_costs(const MedDdpmConfig& config,
                                           const std::array<std::int64_t, 3>& grid);

[[nodiscard]] LevelCost total_of(const std::vector<LevelCost>& levels);

// kResource when already one activation of the finest level exceeds machine.memory_bytes.
Result<MemoryPlan> plan_memory(const MedDdpmConfig& config, const std::array<std::int64_t, 3>& grid,
                               const Backend& backend, const Machine& machine);

// The side of the largest cube whose evaluation the machine's memory allows; 0: none. Compiles a
// few times.
Result<std::int64_t> largest_cube(const MedDdpmConfig& config, const Backend& backend,
                                  const Machine& machine, const CancelToken* cancel);

}  // namespace mezzotint
