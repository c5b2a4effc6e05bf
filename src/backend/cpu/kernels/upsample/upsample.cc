#include <algorithm>

#include "backend/cpu/kernels/implementation.h"
#include "backend/cpu/kernels/kernel_ops.h"
#include "backend/cpu/kernels/upsample/contract.h"

namespace mezzotint::kernels {
namespace {

// Output rows that one worker makes at a time.
constexpr std::int64_t kRowsPerTask = 8;

// Half-pixel centres: output 2i lies between i - 1 and i, output 2i + 1 between i and i + 1, three
// times nearer to i.
struct Neighbours {
  std::int64_t near;
  std::int64_t far;
};
Neighbours neighbours(std::int64_t output, std::int64_t extent) {
  const std::int64_t near = output / 2;
  const std::int64_t far = output % 2 == 0 ? near - 1 : near + 1;
  return {near, std::clamp<std::int64_t>(far, 0, extent - 1)};
}

class UpsampleKernel final : public Kernel {
 public:
  UpsampleKernel(const ValueType& type, const Machine& machine)
      : shape_(type.shape), functions_(for_isa(machine.isa, upsample_avx2(), upsample_avx512())) {
    const Rows rows = rows_of(type);
    shape_ = shape_.with(0, rows.samples).with(1, rows.channels);
    row_blocks_ = ceil_div(2 * shape_[3], kRowsPerTask);
    tasks_ = shape_[0] * 2 * shape_[2] * row_blocks_;
    slots_ = std::min<std::int64_t>(std::max(machine.threads, 1), tasks_);
  }

  std::size_t workspace_bytes() const override {
    return static_cast<std::size_t>(slots_ * row_elements()) * sizeof(float);
  }

  void launch(const LaunchContext& context) const override {
    const auto* x = context.inputs[0].as<const float>();
    auto* y = context.outputs[0].as<float>();
    auto* scratch = reinterpret_cast<float*>(context.workspace);
    const std::int64_t depth = shape_[2];
    const std::int64_t height = shape_[3];
    context.team.parallel_for_slots(tasks_, slots_, [&](std::int64_t task, std::int64_t slot) {
      const std::int64_t plane = task / row_blocks_;  // over samples and output depth
      const std::int64_t first_row = task % row_blocks_ * kRowsPerTask;
      const float* sample = x + plane / (2 * depth) * depth * height * row_elements();
      const Neighbours z = neighbours(plane % (2 * depth), depth);
      const std::int64_t end = std::min(first_row + kRowsPerTask, 2 * height);
      for (std::int64_t out_y = first_row; out_y < end; ++out_y) {
        const Neighbours row = neighbours(out_y, height);
        const auto at = [&](std::int64_t in_z, std::int64_t in_y) {
          return sample + (in_z * height + in_y) * row_elements();
        };
        const UpsampleRow spec{
            {at(z.near, row.near), at(z.near, row.far), at(z.far, row.near), at(z.far, row.far)},
            {0.5625F, 0.1875F, 0.1875F, 0.0625F},
            shape_[4],
            shape_[1]};
        functions_.upsample_row(spec, scratch + slot * row_elements(),
                                y + (plane * 2 * height + out_y) * 2 * row_elements());
      }
    });
  }

 private:
  std::int64_t row_elements() const { return shape_[4] * shape_[1]; }

  Shape shape_;  // of the input, its samples and channels as rows_of() counts them
  const UpsampleKernels& functions_;
  std::int64_t row_blocks_ = 0;
  std::int64_t tasks_ = 0;
  std::int64_t slots_ = 1;
};

}  // namespace

std::unique_ptr<Implementation> make_upsample_trilinear() {
  return make_implementation(
      {"kernels.upsample_trilinear",
       [](const OpView& view) { return refuse_unless_channels_and_positions(view.input(0), "x"); },
       [](const OpView& view, const Machine& machine) -> std::unique_ptr<Kernel> {
         return std::make_unique<UpsampleKernel>(view.input(0).type, machine);
       }});
}

}  // namespace mezzotint::kernels
