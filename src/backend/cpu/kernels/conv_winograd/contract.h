// The three stages of a Winograd convolution (3x3x3, stride 1, padding 1) on a few tiles, and what
// feeds them. A tile is a cube of m^3 outputs, computed from (m + 2)^3 inputs by (m + 2)^3 products
// per pair of channels. All float32; "vector" is ISA's register, kLanes floats.
//
//   transform:  inputs -> V[position][tile][channel]
//   multiply:   M[position] = V[position] U[position], [tile][channel] x [channel][output]
//   finish:     M -> outputs, plus constants and residual; the moments of the result
#pragma once

#include <cstdint>

namespace mezzotint::kernels {

// A box of a channels-innermost source, to be copied for the transform with what surrounds it: in
// vectors of channels, staged[z][y][x][kLanes].
struct WinogradStage {
  const float* source;                          // the sample, at the first channel of the vector
  std::int64_t depth, height, width, channels;  // of the source; channels is its row length
  std::int64_t z, y, x;                         // first position of the box; may lie outside
  std::int64_t box_depth, box_height, box_width;
  std::int64_t lanes;  // channels of this vector that exist; the others are staged as zero
  bool clamp;          // outside is the nearest position's value, not zero
  const float* scale;  // [kLanes] or null: x * scale + shift, then SiLU, before the zeros outside
  const float* shift;
  bool silu;
};

struct WinogradRange {
  std::int64_t first, end;
};

struct WinogradInput {
  const float* origin;  // first input of the tile that exists
  std::int64_t stride_z, stride_y, stride_x;
  std::int64_t vectors;  // of channels, vector_stride floats apart in the source
  std::int64_t vector_stride;
  const float* prefetch;      // where the following tile's new inputs begin, or null
  WinogradRange existing[3];  // per axis: inputs of the tile that exist; the others are zero
  // Doubled sources only, per axis: inputs x coarse inputs, row-major. B^T times interpolation.
  const float* lift[3];
  float* out;  // V at this tile, kLanes floats per vector
  std::int64_t position_stride;
};

// One position, one panel of outputs.
struct WinogradProduct {
  const float* v;     // [tiles][channels]
  const float* u;     // [channels][panel]
  const float* next;  // the panel that is wanted next: fetched into L2 meanwhile
  float* m;           // [tiles][panel]
  std::int64_t tiles, channels;
  std::int64_t vectors;  // of the panel: 1 .. kPanelVectors
};

struct WinogradOutput {
  const float* products;  // M at this tile
  std::int64_t position_stride;
  std::int64_t channels;                   // outputs of this panel that exist
  std::int64_t valid_z, valid_y, valid_x;  // outputs of this tile that exist, 1 .. m
  float* out;                              // first output, aligned to a vector if `stream`
  std::int64_t stride_z, stride_y, stride_x;
  const float* constants;  // [channels rounded up to vectors], added to every output
  const float* residual;   // like out, may be out; or null
  double* sums;            // or null: [channels rounded up to vectors], to which the outputs
  double* squares;         // and their squares are added
  bool stream;             // past the caches
};

struct WinogradStages {
  std::int64_t lanes;
  std::int64_t panel_vectors;  // most vectors of outputs per panel
  void (*stage)(const WinogradStage& stage, float* staged);
  void (*multiply)(const WinogradProduct& product);
  // By tile size: [0] for F(2), [1] for F(4).
  void (*transform[2])(const WinogradInput& input);  // all inputs along x exist
  void (*transform_border[2])(const WinogradInput& input);
  void (*transform_doubled[2])(const WinogradInput& input);
  void (*finish[2])(const WinogradOutput& output);
  void (*fence)();  // after streamed outputs
};

const WinogradStages& conv_winograd_avx2();
const WinogradStages& conv_winograd_avx512();

}  // namespace mezzotint::kernels
