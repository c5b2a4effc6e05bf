// One source of a Winograd convolution on its way into V: straight from memory, or by way of a
// staged copy where it is doubled, normalised or of channels that fill no vector.
#pragma once

#include <array>
#include <cstdint>

#include "backend/cpu/kernels/conv_winograd/contract.h"
#include "backend/cpu/kernels/conv_winograd/tile_grid.h"

namespace mezzotint::kernels {

struct SourceForm {
  std::int64_t channels = 0;
  std::array<std::int64_t, 3> extents{};  // D, H, W
  bool upsample = false;
  bool normalise = false;  // x * scale + shift, then SiLU if `silu`
  bool silu = false;
};

class SourceTransform {
 public:
  // Tiles are `v_channels` floats apart in V, positions `v_stride`.
  SourceTransform(const SourceForm& form, const TileGrid& grid, const WinogradStages& stages,
                  std::int64_t v_channels, std::int64_t v_stride)
      : form_(form), grid_(&grid), stages_(&stages), v_channels_(v_channels), v_stride_(v_stride) {}

  [[nodiscard]] static std::int64_t scratch_floats(const TileGrid& grid,
                                                   const WinogradStages& stages);

  // x: the sample. coefficients: [channels][2] of scale and shift, where normalise. v: of the first
  // tile, at the source's first channel.
  void run(const float* x, const float* coefficients, std::int64_t first_tile, std::int64_t tiles,
           float* v, float* scratch) const;

 private:
  struct Call {
    const float* x;
    const float* coefficients;
    float* scratch;
  };

  void transform_row(const Call& call, const TilePosition& row, std::int64_t count, float* v) const;
  void transform_staged(const Call& call, const TilePosition& row, std::int64_t count,
                        float* v) const;
  void transform_doubled(const Call& call, const TilePosition& row, std::int64_t count,
                         float* v) const;
  [[nodiscard]] WinogradStage box_at(const TilePosition& corner, std::int64_t side,
                                     std::int64_t width) const;
  [[nodiscard]] WinogradInput staged_input(const float* staged, std::int64_t side,
                                           std::int64_t width) const;
  template <typename Use>
  void for_each_vector(const Call& call, WinogradStage& box, const Use& use) const;
  [[nodiscard]] std::size_t tile_form() const { return grid_->outputs() == 4 ? 1 : 0; }

  SourceForm form_;
  const TileGrid* grid_;
  const WinogradStages* stages_;
  std::int64_t v_channels_;
  std::int64_t v_stride_;
};

}  // namespace mezzotint::kernels
