#include "backend/cpu/kernels/conv_winograd/weights.h"

#include <algorithm>

#include "backend/cpu/kernels/implementation.h"

namespace mezzotint::kernels {
namespace {

constexpr std::int64_t kTaps = 27;

// Applies G along the middle axis of from[outer][3][inner]: to[outer][inputs][inner].
void apply_along(const WinogradMatrices& matrices, std::int64_t outer, std::int64_t inner,
                 const double* from, double* to) {
  for (std::int64_t o = 0; o < outer; ++o) {
    for (std::int64_t j = 0; j < matrices.inputs; ++j) {
      const double* g = matrices.weight[j];
      const double* taps = from + o * 3 * inner;
      double* out = to + (o * matrices.inputs + j) * inner;
      for (std::int64_t i = 0; i < inner; ++i) {
        out[i] = g[0] * taps[i] + g[1] * taps[inner + i] + g[2] * taps[2 * inner + i];
      }
    }
  }
}

}  // namespace

std::int64_t PackedLayout::channels() const {
  std::int64_t sum = 0;
  for (const ChannelRange& source : sources) {
    sum += source.padded;
  }
  return sum;
}

std::int64_t PackedLayout::panels() const {
  return ceil_div(padded_outputs, panel);
}

std::int64_t PackedLayout::panel_width(std::int64_t panel_index) const {
  return std::min(panel, padded_outputs - panel_index * panel);
}

std::int64_t PackedLayout::panel_offset(std::int64_t panel_index, std::int64_t positions) const {
  return positions * channels() * panel_index * panel;
}

std::int64_t PackedLayout::elements(std::int64_t positions) const {
  return positions * channels() * padded_outputs;
}

void pack_weights(const WinogradMatrices& matrices, const PackedLayout& layout,
                  std::span<const float> plain, std::span<float> packed) {
  const std::int64_t n = matrices.inputs;
  const std::int64_t positions = n * n * n;
  std::int64_t plain_channels = 0;
  for (const ChannelRange& source : layout.sources) {
    plain_channels += source.count;
  }
  std::fill(packed.begin(), packed.end(), 0.0F);
  std::vector<double> taps(static_cast<std::size_t>(kTaps * layout.panel));
  std::vector<double> along_x(static_cast<std::size_t>(9 * n * layout.panel));
  std::vector<double> along_y(static_cast<std::size_t>(3 * n * n * layout.panel));
  std::vector<double> all(static_cast<std::size_t>(positions * layout.panel));
  for (std::int64_t p = 0; p < layout.panels(); ++p) {
    const std::int64_t width = layout.panel_width(p);
    const std::int64_t first = p * layout.panel;
    const std::int64_t existing = std::min(width, layout.outputs - first);
    float* panel = packed.data() + layout.panel_offset(p, positions);
    std::int64_t from_channel = 0;
    std::int64_t to_channel = 0;
    for (const ChannelRange& source : layout.sources) {
      for (std::int64_t c = 0; c < source.count; ++c) {
        std::fill(taps.begin(), taps.end(), 0.0);
        for (std::int64_t o = 0; o < existing; ++o) {
          const float* from =
              plain.data() + ((first + o) * plain_channels + from_channel + c) * kTaps;
          for (std::int64_t k = 0; k < kTaps; ++k) {
            taps[static_cast<std::size_t>(k * width + o)] = from[k];
          }
        }
        apply_along(matrices, 9, width, taps.data(), along_x.data());
        apply_along(matrices, 3, n * width, along_x.data(), along_y.data());
        apply_along(matrices, 1, n * n * width, along_y.data(), all.data());
        for (std::int64_t position = 0; position < positions; ++position) {
          float* to = panel + (position * layout.channels() + to_channel + c) * width;
          for (std::int64_t o = 0; o < width; ++o) {
            to[o] = static_cast<float>(all[static_cast<std::size_t>(position * width + o)]);
          }
        }
      }
      from_channel += source.count;
      to_channel += source.padded;
    }
  }
}

}  // namespace mezzotint::kernels
