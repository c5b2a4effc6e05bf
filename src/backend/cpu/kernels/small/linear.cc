#include <algorithm>
#include <span>
#include <string>

#include "backend/cpu/kernels/implementation.h"
#include "backend/cpu/kernels/kernel_ops.h"
#include "base/aligned_buffer.h"

namespace mezzotint::kernels {
namespace {

// The networks' linear layers make time vectors from N rows: a few MFLOP per run, bounded by
// reading the weights once. Sums are in double, in four lanes so that additions do not wait for
// each other.
class LinearKernel final : public Kernel {
 public:
  explicit LinearKernel(const OpView& view)
      : samples_(view.input(0).type.shape[0]),
        in_(view.input(0).type.shape[1]),
        out_(view.input(1).type.shape[0]),
        weight_name_(view.input(1).name),
        bias_name_(view.input_count() == 3 ? view.input(2).name : "") {}

  std::size_t packed_bytes() const override {
    return static_cast<std::size_t>((in_ + (bias_name_.empty() ? 0 : 1)) * out_) * sizeof(float);
  }

  Status load(ParameterSource& source) override {
    auto buffer = AlignedBuffer::allocate(packed_bytes());
    if (!buffer) {
      return buffer.error();
    }
    parameters_ = std::move(*buffer);
    const std::span<float> all = parameters_.as<float>();
    const auto weights = static_cast<std::size_t>(in_ * out_);
    if (Status status = source.read(weight_name_, all.first(weights)); !status) {
      return status;
    }
    return bias_name_.empty() ? Status() : source.read(bias_name_, all.subspan(weights));
  }

  void launch(const LaunchContext& context) const override {
    constexpr std::int64_t kOutputsPerTask = 16;
    const auto* x = context.inputs[0].as<const float>();
    auto* y = context.outputs[0].as<float>();
    const float* weights = parameters_.as<float>().data();
    const float* bias = bias_name_.empty() ? nullptr : weights + in_ * out_;
    const std::int64_t blocks = ceil_div(out_, kOutputsPerTask);
    context.team.parallel_for(samples_ * blocks, [&](std::int64_t task) {
      const std::int64_t n = task / blocks;
      const std::int64_t first = task % blocks * kOutputsPerTask;
      for (std::int64_t o = first; o < std::min(first + kOutputsPerTask, out_); ++o) {
        const double sum = dot(x + n * in_, weights + o * in_);
        y[n * out_ + o] = static_cast<float>(bias != nullptr ? sum + bias[o] : sum);
      }
    });
  }

 private:
  double dot(const float* x, const float* w) const {
    constexpr std::int64_t kLanes = 4;
    double sums[kLanes] = {};
    std::int64_t i = 0;
    for (; i + kLanes <= in_; i += kLanes) {
      for (std::int64_t lane = 0; lane < kLanes; ++lane) {
        sums[lane] += static_cast<double>(x[i + lane]) * w[i + lane];
      }
    }
    for (; i < in_; ++i) {
      sums[0] += static_cast<double>(x[i]) * w[i];
    }
    return (sums[0] + sums[1]) + (sums[2] + sums[3]);
  }

  std::int64_t samples_;
  std::int64_t in_;
  std::int64_t out_;
  std::string weight_name_;
  std::string bias_name_;
  AlignedBuffer parameters_;
};

Refusal refuse(const OpView& view) {
  if (auto reason = refuse_unless_f32(view.input(0), "x")) {
    return reason;
  }
  for (std::size_t i = 1; i < view.input_count(); ++i) {
    if (view.input(i).kind != ValueKind::kParameter) {
      return "weight and bias must be parameters";
    }
  }
  return std::nullopt;
}

}  // namespace

std::unique_ptr<Implementation> make_linear() {
  return make_implementation(
      {"kernels.linear", refuse, [](const OpView& view, const Machine&) -> std::unique_ptr<Kernel> {
         return std::make_unique<LinearKernel>(view);
       }});
}

}  // namespace mezzotint::kernels
