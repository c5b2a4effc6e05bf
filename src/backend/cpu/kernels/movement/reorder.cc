#include <algorithm>
#include <cstring>

#include "backend/cpu/kernels/implementation.h"
#include "backend/cpu/kernels/kernel_ops.h"

namespace mezzotint::kernels {
namespace {

// Between row_major (channels x positions per sample) and channels_last (positions x channels): a
// transposition. Equal layouts are a copy.
class ReorderKernel final : public Kernel {
 public:
  explicit ReorderKernel(const OpView& view)
      : rows_(rows_of(view.output().type.shape)),
        copies_(view.input(0).type.layout == view.output().type.layout),
        to_channels_last_(view.output().type.layout == Layout::kChannelsLast) {}

  void launch(const LaunchContext& context) const override {
    const auto* x = context.inputs[0].as<const float>();
    auto* y = context.outputs[0].as<float>();
    const std::int64_t blocks = ceil_div(rows_.positions, kBlockPositions);
    context.team.parallel_for(rows_.samples * blocks, [&](std::int64_t task) {
      const std::int64_t sample = task / blocks * rows_.sample_elements();
      const std::int64_t begin = task % blocks * kBlockPositions;
      const std::int64_t end = std::min(begin + kBlockPositions, rows_.positions);
      if (copies_) {
        const std::int64_t offset = sample + begin * rows_.channels;
        std::memcpy(y + offset, x + offset,
                    static_cast<std::size_t>((end - begin) * rows_.channels) * sizeof(float));
      } else {
        transpose(x + sample, y + sample, begin, end);
      }
    });
  }

 private:
  static constexpr std::int64_t kBlockPositions = 512;

  // Tiles of 16 channels x 16 positions: 16 cache lines on either side.
  void transpose(const float* x, float* y, std::int64_t begin, std::int64_t end) const {
    constexpr std::int64_t kTile = 16;
    const std::int64_t channels = rows_.channels;
    for (std::int64_t p0 = begin; p0 < end; p0 += kTile) {
      const std::int64_t p1 = std::min(p0 + kTile, end);
      for (std::int64_t c0 = 0; c0 < channels; c0 += kTile) {
        const std::int64_t c1 = std::min(c0 + kTile, channels);
        for (std::int64_t p = p0; p < p1; ++p) {
          for (std::int64_t c = c0; c < c1; ++c) {
            const std::int64_t last = p * channels + c;
            const std::int64_t first = c * rows_.positions + p;
            if (to_channels_last_) {
              y[last] = x[first];
            } else {
              y[first] = x[last];
            }
          }
        }
      }
    }
  }

  Rows rows_;
  bool copies_;
  bool to_channels_last_;
};

}  // namespace

std::unique_ptr<Implementation> make_reorder() {
  return make_implementation(
      {"kernels.reorder", [](const OpView& view) { return refuse_unless_f32(view.input(0), "x"); },
       [](const OpView& view, const Machine&) -> std::unique_ptr<Kernel> {
         return std::make_unique<ReorderKernel>(view);
       }});
}

}  // namespace mezzotint::kernels
