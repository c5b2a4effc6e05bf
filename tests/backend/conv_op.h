// Convolutions as single ops: plain, and as regions with what may be fused into them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "backend/single_op.h"

namespace mezzotint::testing {

inline const Shape cube3{3, 3, 3};
inline const Shape cube1{1, 1, 1};

struct ConvCase {
  std::int64_t in;
  std::int64_t out;
  Shape volume;  // D, H, W
  Shape kernel;
  std::int64_t stride = 1;
  std::int64_t padding = 1;
  std::int64_t samples = 1;
  bool bias = true;

  [[nodiscard]] std::int64_t terms() const { return in * kernel.elements(); }
  [[nodiscard]] std::string text() const;
};

// Channels of the sources, joined when there are several; then what follows the convolution.
struct Fused {
  std::vector<std::int64_t> sources;
  bool time_vector = false;
  bool residual = false;
  bool moments = false;
  std::optional<std::string> affine =
      std::nullopt;  // scale and shift of each source, with this activation
  Layout source_layout = Layout::kChannelsLast;  // row_major is reordered within the region
  Layout result_layout = Layout::kChannelsLast;  // row_major is reordered at the region's end
  bool upsample = false;  // the first source is half as large per axis, doubled within the region
};

[[nodiscard]] SingleOp plain_conv(const ConvCase& c);
// Inputs in order: sources, weight, bias, time vector, residual, coefficients of all channels.
[[nodiscard]] SingleOp fused_conv(const ConvCase& c, const Fused& fused);

}  // namespace mezzotint::testing
