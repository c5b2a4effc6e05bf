#include "pipeline/network_cost.h"

#include <algorithm>

#include "base/cancel.h"
#include "graph/op_definition.h"
#include "pipeline/condition.h"
#include "pipeline/session.h"

namespace mezzotint {
namespace {

std::vector<LevelCost> empty_levels(const MedDdpmConfig& config,
                                    const std::array<std::int64_t, 3>& grid) {
  std::vector<LevelCost> levels;
  for (int level = 0; level < config.levels(); ++level) {
    LevelCost cost;
    for (std::size_t axis = 0; axis < 3; ++axis) {
      cost.grid[axis] = grid[axis] >> level;
    }
    cost.channels =
        config.base_channels * config.channel_multiplier[static_cast<std::size_t>(level)];
    levels.push_back(cost);
  }
  return levels;
}

void count(const OpView& view, LevelCost& level) {
  const double flops = flops_of(view);
  switch (view.op.kind) {
    case OpKind::conv3d: level.conv_flops += flops; break;
    case OpKind::attention: level.attention_flops += flops; break;
    default: level.other_flops += flops; break;
  }
  for (std::size_t i = 0; i < view.op.outputs.size(); ++i) {
    const auto bytes = static_cast<std::uint64_t>(view.output(i).type.bytes());
    level.activation_bytes += bytes;
    level.largest_bytes = std::max(level.largest_bytes, bytes);
  }
}

}  // namespace

Result<std::vector<LevelCost>> level_costs(const MedDdpmConfig& config,
                                           const std::array<std::int64_t, 3>& grid) {
  const auto graph = build_med_ddpm(config, /*batch=*/1, {grid[2], grid[1], grid[0]});
  if (!graph) {
    return graph.error();
  }
  std::vector<LevelCost> levels = empty_levels(config, grid);
  LevelCost vectors;
  for (const Op& op : graph->ops()) {
    const OpView view{*graph, op};
    const Shape* volume = volume_of(view);
    // Sides halve from level to level, so one of them tells the level.
    const auto level = volume == nullptr
                           ? levels.end()
                           : std::find_if(levels.begin(), levels.end(), [&](const LevelCost& cost) {
                               return cost.grid[2] == (*volume)[2];
                             });
    count(view, level == levels.end() ? vectors : *level);
  }
  levels.push_back(vectors);
  return levels;
}

LevelCost total_of(const std::vector<LevelCost>& levels) {
  LevelCost total;
  for (const LevelCost& level : levels) {
    total.conv_flops += level.conv_flops;
    total.attention_flops += level.attention_flops;
    total.other_flops += level.other_flops;
    total.activation_bytes += level.activation_bytes;
    total.largest_bytes = std::max(total.largest_bytes, level.largest_bytes);
  }
  return total;
}

Result<MemoryPlan> plan_memory(const MedDdpmConfig& config, const std::array<std::int64_t, 3>& grid,
                               const Backend& backend, const Machine& machine) {
  SessionOptions options;
  options.machine = machine;
  options.grid = grid;
  options.timesteps = {0};
  const auto session = Session::create(config, backend, options);
  if (!session) {
    return session.error();
  }
  const Program& program = session->program();
  const auto bound =
      static_cast<std::uint64_t>(2 * session->elements() + session->condition_elements());
  return MemoryPlan{program.packed_bytes(), program.arena_bytes(),
                    session->predicted_bytes() + bound * sizeof(float),
                    program.predicted_seconds()};
}

Result<std::int64_t> largest_cube(const MedDdpmConfig& config, const Backend& backend,
                                  const Machine& machine, const CancelToken* cancel) {
  const std::int64_t multiple = config.size_multiple();
  // Invariant: `fits` multiples fit, `exceeds` do not. No more voxels than a run may have.
  std::int64_t fits = 0;
  std::int64_t exceeds = 1;
  while (exceeds * multiple * exceeds * multiple * exceeds * multiple <= kMostGridVoxels) {
    ++exceeds;
  }
  while (exceeds - fits > 1) {
    if (stop_requested(cancel)) {
      return stopped();
    }
    const std::int64_t tried = (fits + exceeds) / 2;
    const std::int64_t side = tried * multiple;
    const auto plan = plan_memory(config, {side, side, side}, backend, machine);
    if (!plan && plan.error().code != ErrorCode::kResource) {
      return plan.error();
    }
    (plan && plan->peak_bytes <= machine.memory_bytes ? fits : exceeds) = tried;
  }
  return fits * multiple;
}

}  // namespace mezzotint
