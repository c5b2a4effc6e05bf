#include "backend/cpu/kernels/conv_winograd/source_transform.h"

#include <algorithm>

namespace mezzotint::kernels {
namespace {

// Tiles along a row that are staged at a time: 115 KB for F(4) on AVX-512, a part of L2.
constexpr std::int64_t kStagedTiles = 12;

std::int64_t staged_floats(const TileGrid& grid, const WinogradStages& stages) {
  const std::int64_t row = grid.outputs() * (kStagedTiles - 1) + grid.inputs();
  return grid.inputs() * grid.inputs() * row * stages.lanes;
}

}  // namespace

// The staged box, then a vector of scales and one of shifts.
std::int64_t SourceTransform::scratch_floats(const TileGrid& grid, const WinogradStages& stages) {
  return staged_floats(grid, stages) + 2 * stages.lanes;
}

// Tiles that lie in one row are transformed together.
void SourceTransform::run(const float* x, const float* coefficients, std::int64_t first_tile,
                          std::int64_t tiles, float* v, float* scratch) const {
  const Call call{x, coefficients, scratch};
  for (std::int64_t done = 0; done < tiles;) {
    const TilePosition at = grid_->position(first_tile + done);
    const std::int64_t count = std::min({tiles - done, grid_->tiles_along(2) - at.x, kStagedTiles});
    float* to = v + done * v_channels_;
    if (form_.upsample) {
      transform_doubled(call, at, count, to);
    } else if (form_.normalise || form_.channels % stages_->lanes != 0) {
      transform_staged(call, at, count, to);
    } else {
      transform_row(call, at, count, to);
    }
    done += count;
  }
}

void SourceTransform::transform_row(const Call& call, const TilePosition& row, std::int64_t count,
                                    float* v) const {
  WinogradInput in{};
  in.stride_x = form_.channels;
  in.stride_y = form_.extents[2] * in.stride_x;
  in.stride_z = form_.extents[1] * in.stride_y;
  in.vectors = form_.channels / stages_->lanes;
  in.vector_stride = stages_->lanes;
  in.position_stride = v_stride_;
  in.existing[0] = grid_->existing_inputs(0, row.z);
  in.existing[1] = grid_->existing_inputs(1, row.y);
  const TilePosition corner = grid_->first_input(row);
  const float* first_row = call.x + (corner.z + in.existing[0].first) * in.stride_z +
                           (corner.y + in.existing[1].first) * in.stride_y;
  for (std::int64_t i = 0; i < count; ++i, v += v_channels_) {
    const WinogradRange xs = grid_->existing_inputs(2, row.x + i);
    const std::int64_t x = corner.x + i * grid_->outputs();
    in.existing[2] = xs;
    in.origin = first_row + (x + xs.first) * in.stride_x;
    in.out = v;
    // Two of the next tile's columns are this one's last.
    const bool next_is_whole = x + grid_->outputs() + grid_->inputs() <= form_.extents[2];
    in.prefetch = next_is_whole ? first_row + (x + grid_->inputs()) * in.stride_x : nullptr;
    const bool is_whole = xs.end - xs.first == grid_->inputs();
    (is_whole ? stages_->transform : stages_->transform_border)[tile_form()](in);
  }
}

void SourceTransform::transform_staged(const Call& call, const TilePosition& row,
                                       std::int64_t count, float* v) const {
  const std::int64_t width = grid_->outputs() * (count - 1) + grid_->inputs();
  WinogradStage box = box_at(grid_->first_input(row), grid_->inputs(), width);
  for_each_vector(call, box, [&](std::int64_t channel) {
    WinogradInput in = staged_input(call.scratch, grid_->inputs(), width);
    in.out = v + channel;
    for (std::int64_t i = 0; i < count; ++i) {
      stages_->transform[tile_form()](in);
      in.origin += grid_->outputs() * stages_->lanes;
      in.out += v_channels_;
    }
  });
}

void SourceTransform::transform_doubled(const Call& call, const TilePosition& row,
                                        std::int64_t count, float* v) const {
  const std::int64_t step = grid_->outputs() / 2;
  const std::int64_t width = step * (count - 1) + grid_->coarse_inputs();
  WinogradStage box = box_at(grid_->first_coarse_input(row), grid_->coarse_inputs(), width);
  box.clamp = true;
  for_each_vector(call, box, [&](std::int64_t channel) {
    WinogradInput in = staged_input(call.scratch, grid_->coarse_inputs(), width);
    in.out = v + channel;
    in.lift[0] = grid_->lift(0, row.z);
    in.lift[1] = grid_->lift(1, row.y);
    for (std::int64_t i = 0; i < count; ++i) {
      in.lift[2] = grid_->lift(2, row.x + i);
      stages_->transform_doubled[tile_form()](in);
      in.origin += step * stages_->lanes;
      in.out += v_channels_;
    }
  });
}

WinogradStage SourceTransform::box_at(const TilePosition& corner, std::int64_t side,
                                      std::int64_t width) const {
  WinogradStage box{};
  box.depth = form_.extents[0];
  box.height = form_.extents[1];
  box.width = form_.extents[2];
  box.channels = form_.channels;
  box.z = corner.z;
  box.y = corner.y;
  box.x = corner.x;
  box.box_depth = side;
  box.box_height = side;
  box.box_width = width;
  return box;
}

WinogradInput SourceTransform::staged_input(const float* staged, std::int64_t side,
                                            std::int64_t width) const {
  WinogradInput in{};
  in.origin = staged;
  in.stride_x = stages_->lanes;
  in.stride_y = width * stages_->lanes;
  in.stride_z = side * in.stride_y;
  in.vectors = 1;
  in.position_stride = v_stride_;
  std::ranges::fill(in.existing, WinogradRange{0, side});
  return in;
}

// Stages the box vector by vector of channels and calls use(first channel) after each.
template <typename Use>
void SourceTransform::for_each_vector(const Call& call, WinogradStage& box, const Use& use) const {
  const std::int64_t lanes = stages_->lanes;
  float* scale = call.scratch + staged_floats(*grid_, *stages_);
  float* shift = scale + lanes;
  for (std::int64_t c = 0; c < form_.channels; c += lanes) {
    box.source = call.x + c;
    box.lanes = std::min(lanes, form_.channels - c);
    if (form_.normalise) {
      for (std::int64_t i = 0; i < lanes; ++i) {
        scale[i] = i < box.lanes ? call.coefficients[2 * (c + i)] : 0.0F;
        shift[i] = i < box.lanes ? call.coefficients[2 * (c + i) + 1] : 0.0F;
      }
      box.scale = scale;
      box.shift = shift;
      box.silu = form_.silu;
    }
    stages_->stage(box, call.scratch);
    use(c);
  }
}

}  // namespace mezzotint::kernels
