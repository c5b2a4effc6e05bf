#include <cmath>

#include "backend/cpu/kernels/implementation.h"
#include "backend/cpu/kernels/kernel_ops.h"

namespace mezzotint::kernels {
namespace {

// In double: float32 frequencies alone would cost t * 6e-8 radians.
class TimestepEmbeddingKernel final : public Kernel {
 public:
  explicit TimestepEmbeddingKernel(const OpView& view)
      : samples_(view.output().type.shape[0]),
        dim_(view.output().type.shape[1]),
        max_period_(view.op.attributes.real("max_period", 1000.0)) {}

  void launch(const LaunchContext& context) const override {
    const std::int64_t half = dim_ / 2;
    for (std::int64_t n = 0; n < samples_; ++n) {
      const double t = context.inputs[0].as<const float>()[n];
      float* out = context.outputs[0].as<float>() + n * dim_;
      for (std::int64_t i = 0; i < half; ++i) {
        const double frequency =
            std::exp(-std::log(max_period_) * static_cast<double>(i) / static_cast<double>(half));
        out[i] = static_cast<float>(std::cos(t * frequency));
        out[half + i] = static_cast<float>(std::sin(t * frequency));
      }
      if (dim_ % 2 != 0) {
        out[dim_ - 1] = 0.0F;
      }
    }
  }

 private:
  std::int64_t samples_;
  std::int64_t dim_;
  double max_period_;
};

}  // namespace

std::unique_ptr<Implementation> make_timestep_embedding() {
  return make_implementation(
      {"kernels.timestep_embedding",
       [](const OpView& view) { return refuse_unless_f32(view.input(0), "t"); },
       [](const OpView& view, const Machine&) -> std::unique_ptr<Kernel> {
         return std::make_unique<TimestepEmbeddingKernel>(view);
       }});
}

}  // namespace mezzotint::kernels
