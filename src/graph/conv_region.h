// A convolution with what has been fused into it, read back from the ops of its region.
//
//   y = epilogue(sum over sources s of conv(load_s(x_s), weight[:, channels of s]))
//   load_s: nothing, or act_s(x * scale_s + shift_s), or trilinear interpolation to twice the size
//   epilogue: + bias, + time vector, + residual; channel moments of y may be a second output
// Padding is zero after load_s. Sources, residual and y may differ in layout, which their types
// tell: the body's reorders at its sources and its result appear nowhere else.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "graph/graph.h"
#include "graph/plan.h"

namespace mezzotint {

// Indices are positions in the op's list of inputs (or outputs).
struct ConvSource {
  std::size_t input = 0;
  std::int64_t channels = 0;
  bool upsample = false;                    // trilinear x2 on load; never with coefficients
  std::optional<std::size_t> coefficients;  // affine on load
  std::int64_t channel_offset = 0;          // of the coefficients
  bool silu = false;
};

struct ConvRegion {
  std::vector<ConvSource> sources;
  std::size_t weight = 0;
  std::optional<std::size_t> bias;
  std::optional<std::size_t> time_vector;  // [N, Cout]
  std::optional<std::size_t> residual;     // like y
  std::optional<std::size_t> moments;      // output index
  std::int64_t stride = 1;
  std::int64_t padding = 0;
};

// Inputs whose memory the result may take over: the residual, unless it is a source as well, whose
// borders neighbouring blocks read after a block has been written.
[[nodiscard]] std::vector<std::size_t> in_place_inputs(const ConvRegion& region);

// What an op of this kind is to the region that takes it, before its convolution or behind it.
[[nodiscard]] std::optional<Fusion> fusion_of(OpKind kind, bool behind);

// What the region around a convolution took; a conv3d took nothing.
[[nodiscard]] Fusions fusions_of(const Op& op);

// For a conv3d or a region around one; nothing for any other op or form.
[[nodiscard]] std::optional<ConvRegion> describe_conv(const OpView& view);

// flops_of() without the products that a convolution has with its padding: on a small grid every
// fourth, which oneDNN leaves out.
[[nodiscard]] double flops_without_padding(const OpView& view);

}  // namespace mezzotint
