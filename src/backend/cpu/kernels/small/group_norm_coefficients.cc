#include <cmath>
#include <span>
#include <string>
#include <vector>

#include "backend/cpu/kernels/implementation.h"
#include "backend/cpu/kernels/kernel_ops.h"

namespace mezzotint::kernels {
namespace {

// All in double, rounded when stored. Every channel has the same number of positions, so a group's
// mean is the mean of its channels' means, and its variance the mean of their variances plus the
// variance of their means.
class GroupNormCoefficientsKernel final : public Kernel {
 public:
  explicit GroupNormCoefficientsKernel(const OpView& view)
      : samples_(view.input(0).type.shape[0]),
        channels_(view.input(0).type.shape[1]),
        groups_(view.op.attributes.integer("groups", 1)),
        eps_(view.op.attributes.real("eps", 1e-5)),
        weight_name_(view.input(1).name),
        bias_name_(view.input(2).name) {}

  std::size_t packed_bytes() const override {
    return 2 * static_cast<std::size_t>(channels_) * sizeof(float);
  }

  Status load(ParameterSource& source) override {
    weight_.resize(static_cast<std::size_t>(channels_));
    bias_.resize(static_cast<std::size_t>(channels_));
    if (Status status = source.read(weight_name_, weight_); !status) {
      return status;
    }
    return source.read(bias_name_, bias_);
  }

  void launch(const LaunchContext& context) const override {
    const std::int64_t size = channels_ / groups_;
    for (std::int64_t n = 0; n < samples_; ++n) {
      for (std::int64_t first = 0; first < channels_; first += size) {
        const std::int64_t offset = 2 * (n * channels_ + first);
        const double* moments = context.inputs[0].as<const double>() + offset;
        float* out = context.outputs[0].as<float>() + offset;
        write_group(moments, static_cast<std::size_t>(first), size, out);
      }
    }
  }

 private:
  void write_group(const double* moments, std::size_t first, std::int64_t size, float* out) const {
    double mean = 0;
    for (std::int64_t c = 0; c < size; ++c) {
      mean += moments[2 * c];
    }
    mean /= static_cast<double>(size);
    double variance = 0;
    for (std::int64_t c = 0; c < size; ++c) {
      const double delta = moments[2 * c] - mean;
      variance += moments[2 * c + 1] + delta * delta;
    }
    variance /= static_cast<double>(size);
    const double inverse = 1.0 / std::sqrt(variance + eps_);
    for (std::int64_t c = 0; c < size; ++c) {
      const std::size_t channel = first + static_cast<std::size_t>(c);
      // The shift belongs to the scale as rounded: what a large mean loses in the scale's last bit
      // it gets back.
      out[2 * c] = static_cast<float>(weight_[channel] * inverse);
      out[2 * c + 1] = static_cast<float>(bias_[channel] - mean * out[2 * c]);
    }
  }

  std::int64_t samples_;
  std::int64_t channels_;
  std::int64_t groups_;
  double eps_;
  std::string weight_name_;
  std::string bias_name_;
  std::vector<float> weight_;
  std::vector<float> bias_;
};

Refusal refuse(const OpView& view) {
  for (const std::size_t i : {1U, 2U}) {
    if (view.input(i).kind != ValueKind::kParameter) {
      return "weight and bias must be parameters";
    }
  }
  return std::nullopt;
}

}  // namespace

std::unique_ptr<Implementation> make_group_norm_coefficients() {
  return make_implementation({"kernels.group_norm_coefficients", refuse,
                              [](const OpView& view, const Machine&) -> std::unique_ptr<Kernel> {
                                return std::make_unique<GroupNormCoefficientsKernel>(view);
                              }});
}

}  // namespace mezzotint::kernels
