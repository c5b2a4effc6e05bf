#include <algorithm>
#include <cstring>
#include <vector>

#include "backend/cpu/kernels/implementation.h"
#include "backend/cpu/kernels/kernel_ops.h"

namespace mezzotint::kernels {
namespace {

// With channels innermost a concatenation interleaves rows of channels; otherwise it copies whole
// samples. Both are: per row, one run of bytes from each input.
class ConcatKernel final : public Kernel {
 public:
  explicit ConcatKernel(const OpView& view) {
    const ValueType& type = view.output().type;
    const Rows rows = rows_of(type.shape);
    const bool innermost = type.layout == Layout::kChannelsLast;
    rows_ = innermost ? rows.samples * rows.positions : rows.samples;
    const std::int64_t per_channel =
        static_cast<std::int64_t>(size_of(type.dtype)) * (innermost ? 1 : rows.positions);
    for (std::size_t i = 0; i < view.input_count(); ++i) {
      runs_.push_back(view.input(i).type.shape[1] * per_channel);
      row_bytes_ += runs_.back();
    }
  }

  void launch(const LaunchContext& context) const override {
    constexpr std::int64_t kTaskBytes = 65536;
    const std::int64_t rows_per_task =
        std::max<std::int64_t>(1, kTaskBytes / std::max<std::int64_t>(1, row_bytes_));
    context.team.parallel_for(ceil_div(rows_, rows_per_task), [&](std::int64_t task) {
      const std::int64_t first = task * rows_per_task;
      const std::int64_t count = std::min(rows_per_task, rows_ - first);
      std::int64_t offset = 0;
      for (std::size_t i = 0; i < runs_.size(); ++i) {
        const std::byte* from = context.inputs[i].data + first * runs_[i];
        std::byte* to = context.outputs[0].data + first * row_bytes_ + offset;
        for (std::int64_t row = 0; row < count; ++row) {
          std::memcpy(to + row * row_bytes_, from + row * runs_[i],
                      static_cast<std::size_t>(runs_[i]));
        }
        offset += runs_[i];
      }
    });
  }

 private:
  std::int64_t rows_ = 0;
  std::int64_t row_bytes_ = 0;
  std::vector<std::int64_t> runs_;  // bytes per row of each input
};

}  // namespace

std::unique_ptr<Implementation> make_concat() {
  return make_implementation({"kernels.concat",
                              [](const OpView&) -> Refusal { return std::nullopt; },
                              [](const OpView& view, const Machine&) -> std::unique_ptr<Kernel> {
                                return std::make_unique<ConcatKernel>(view);
                              }});
}

}  // namespace mezzotint::kernels
