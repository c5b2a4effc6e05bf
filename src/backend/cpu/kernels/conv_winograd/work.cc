#include "backend/cpu/kernels/conv_winograd/work.h"

#include "backend/cpu/kernels/conv_winograd/tile_grid.h"
#include "backend/cpu/kernels/implementation.h"
#include "graph/op_definition.h"

namespace mezzotint::kernels {
namespace {

// What stages of a tile cost beside its products, in the products' operations: the transform of an
// input and the making of an output, per position and channel; copying an input first, per copied
// value, and normalising it.
constexpr double kTransform = 45;
constexpr double kFinish = 20;
constexpr double kStage = 12;
constexpr double kNormalise = 90;

// Operations of one pass over a line as tiles-inl.h does it, F(2)'s and F(4)'s.
constexpr double kForward[] = {4, 24};
constexpr double kInverse[] = {4, 16};

// Values copied per tile of a long row: neighbours along x share what they have in common.
double staged_values(const TileGrid& grid, bool doubled) {
  const auto side = static_cast<double>(doubled ? grid.coarse_inputs() : grid.inputs());
  const auto step = static_cast<double>(doubled ? grid.outputs() / 2 : grid.outputs());
  return side * side * step;
}

// Per tile and channel. Lines along x, y, z, of which the first passes of a cube that grows have
// fewer, and the last of one that shrinks.
double input_flops(const TileGrid& grid, bool doubled) {
  const auto n = static_cast<double>(grid.inputs());
  if (!doubled) {
    return 3 * n * n * kForward[grid.outputs() / 4];
  }
  const auto coarse = static_cast<double>(grid.coarse_inputs());
  const double line = n * (2 * coarse - 1);  // n sums of `coarse` products
  return (coarse * coarse + coarse * n + n * n) * line;
}

double output_flops(const TileGrid& grid) {
  const auto n = static_cast<double>(grid.inputs());
  const auto m = static_cast<double>(grid.outputs());
  return (n * n + n * m + m * m) * kInverse[grid.outputs() / 4];
}

// Per value: as the op `affine` counts.
double normalise_flops(const ConvSource& source) {
  if (!source.coefficients) {
    return 0;
  }
  return source.silu ? 6 : 2;
}

double flops_behind(const OpView& view) {
  double flops = 0;
  bool behind = false;
  if (view.op.kind == OpKind::region) {
    for (const Op& op : view.op.body->ops()) {
      flops += behind ? flops_of({*view.op.body, op}) : 0;
      behind = behind || op.kind == OpKind::conv3d;
    }
  }
  return flops;
}

}  // namespace

Work winograd_work(const OpView& view, const ConvRegion& region, WinogradTile tile,
                   std::int64_t lanes) {
  const Shape& shape = view.output(0).type.shape;
  const TileGrid grid(tile, {shape[2], shape[3], shape[4]});
  const auto tiles = static_cast<double>(shape[0] * grid.tiles());
  const auto positions = static_cast<double>(grid.positions());
  const auto outputs = static_cast<double>(shape[1]);
  const auto padded_outputs = static_cast<double>(round_up(shape[1], lanes));
  Work work;
  work.flops = tiles * outputs * output_flops(grid) + flops_behind(view);
  work.priced_flops = tiles * positions * kFinish * padded_outputs;
  for (const ConvSource& source : region.sources) {
    const auto channels = static_cast<double>(source.channels);
    const auto padded_channels = static_cast<double>(round_up(source.channels, lanes));
    const double staged = staged_values(grid, source.upsample);
    work.flops += tiles * channels *
                  (2 * positions * outputs + input_flops(grid, source.upsample) +
                   staged * normalise_flops(source));
    double price = positions * (2 * padded_outputs + kTransform);
    if (source.upsample || source.coefficients || source.channels % lanes != 0) {
      price += staged * (kStage + (source.coefficients ? kNormalise : 0.0));
    }
    work.priced_flops += tiles * padded_channels * price;
    work.packed_bytes += padded_channels * padded_outputs * positions * sizeof(float);
  }
  work.bytes = bytes_of(view) - parameter_bytes_of(view) + work.packed_bytes;
  return work;
}

}  // namespace mezzotint::kernels
