#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <string>

#include "backend/cpu/kernels/conv_few/contract.h"
#include "backend/cpu/kernels/implementation.h"
#include "backend/cpu/kernels/kernel_ops.h"
#include "base/aligned_buffer.h"
#include "graph/conv_region.h"

namespace mezzotint::kernels {
namespace {

class ConvFewKernel final : public Kernel {
 public:
  ConvFewKernel(const OpView& view, const ConvRegion& region, const Machine& machine)
      : input_(region.sources[0].input),
        shape_(view.input(input_).type.shape),
        outputs_(view.output().type.shape[1]),
        channel_stride_(round_up(shape_[1], ConvFewKernels::kChannelUnit)),
        conv_row_(for_isa(machine.isa, conv_few_avx2(), conv_few_avx512()).conv_row[outputs_ - 1]),
        row_major_(view.output().type.layout == Layout::kRowMajor),
        weight_name_(view.input(region.weight).name),
        bias_name_(region.bias ? view.input(*region.bias).name : "") {}

  // Weights, bias, and the zeros that stand for padding.
  std::size_t packed_bytes() const override {
    return static_cast<std::size_t>(weight_elements() + ConvFewKernels::kMostOutputs +
                                    channel_stride_) *
           sizeof(float);
  }
  std::size_t load_bytes() const override {
    return static_cast<std::size_t>(outputs_ * shape_[1] * kTaps) * sizeof(float);
  }

  Status load(ParameterSource& source) override {
    auto packed = AlignedBuffer::allocate(packed_bytes());
    auto plain = AlignedBuffer::allocate(load_bytes());
    if (!packed || !plain) {
      return packed ? plain.error() : packed.error();
    }
    packed_ = std::move(*packed);
    const std::span<float> all = packed_.as<float>();
    std::fill(all.begin(), all.end(), 0.0F);
    if (Status status = source.read(weight_name_, plain->as<float>()); !status) {
      return status;
    }
    const float* from = plain->as<float>().data();
    for (std::int64_t o = 0; o < outputs_; ++o) {
      for (std::int64_t c = 0; c < shape_[1]; ++c) {
        for (std::int64_t tap = 0; tap < kTaps; ++tap) {
          all[static_cast<std::size_t>((o * kTaps + tap) * channel_stride_ + c)] =
              from[(o * shape_[1] + c) * kTaps + tap];
        }
      }
    }
    if (bias_name_.empty()) {
      return {};
    }
    return source.read(bias_name_, all.subspan(static_cast<std::size_t>(weight_elements()),
                                               static_cast<std::size_t>(outputs_)));
  }

  void launch(const LaunchContext& context) const override {
    const auto* x = context.inputs[input_].as<const float>();
    auto* y = context.outputs[0].as<float>();
    const std::int64_t planes = shape_[0] * shape_[2];
    context.team.parallel_for(planes * shape_[3], [&](std::int64_t task) {
      conv_row_(row_at(x, task / shape_[3], task % shape_[3]), y + result_offset(task));
    });
  }

 private:
  static constexpr std::int64_t kTaps = 27;

  std::int64_t weight_elements() const { return outputs_ * kTaps * channel_stride_; }

  std::int64_t channel_positions() const { return shape_[2] * shape_[3] * shape_[4]; }

  // Of a row's first result; rows are counted over all samples.
  std::int64_t result_offset(std::int64_t row) const {
    if (!row_major_) {
      return row * shape_[4] * outputs_;
    }
    const std::int64_t sample = row / (shape_[2] * shape_[3]);
    return row * shape_[4] + sample * (outputs_ - 1) * channel_positions();
  }

  ConvFewRow row_at(const float* x, std::int64_t plane, std::int64_t row) const {
    const float* weights = packed_.as<float>().data();
    ConvFewRow spec{};
    spec.weights = weights;
    spec.bias = weights + weight_elements();
    spec.zeros = spec.bias + ConvFewKernels::kMostOutputs;
    spec.width = shape_[4];
    spec.channels = shape_[1];
    spec.channel_stride = channel_stride_;
    spec.position_step = row_major_ ? 1 : outputs_;
    spec.output_step = row_major_ ? channel_positions() : 1;
    const std::int64_t depth = plane % shape_[2];
    for (std::int64_t k = 0; k < 9; ++k) {
      const std::int64_t dz = k / 3 - 1;
      const std::int64_t dy = k % 3 - 1;
      const bool inside =
          depth + dz >= 0 && depth + dz < shape_[2] && row + dy >= 0 && row + dy < shape_[3];
      if (inside) {
        spec.rows[k] = x + ((plane + dz) * shape_[3] + row + dy) * shape_[4] * shape_[1];
      }
    }
    return spec;
  }

  std::size_t input_;
  Shape shape_;  // of the input
  std::int64_t outputs_;
  std::int64_t channel_stride_;
  void (*conv_row_)(const ConvFewRow&, float*);
  bool row_major_;  // the result
  std::string weight_name_;
  std::string bias_name_;
  AlignedBuffer packed_;
};

Refusal refuse(const OpView& view) {
  const auto region = describe_conv(view);
  if (!region || region->sources.size() != 1 || region->sources[0].coefficients ||
      region->sources[0].upsample || region->time_vector || region->residual || region->moments) {
    return "computes one plain source with bias, nothing fused";
  }
  if (auto reason = refuse_unless_channels_innermost(view.input(region->sources[0].input), "x")) {
    return reason;
  }
  if (auto reason = refuse_unless_f32(view.output(), "the result")) {
    return reason;
  }
  const Value& weight = view.input(region->weight);
  if (weight.kind != ValueKind::kParameter ||
      (region->bias && view.input(*region->bias).kind != ValueKind::kParameter)) {
    return "weights and bias must be parameters";
  }
  const Shape& shape = weight.type.shape;
  if (shape[0] > ConvFewKernels::kMostOutputs) {
    return fmt::format("made for at most {} output channels, has {}", ConvFewKernels::kMostOutputs,
                       shape[0]);
  }
  return refuse_unless_cube3(view, *region);
}

}  // namespace

std::unique_ptr<Implementation> make_conv_few_outputs() {
  return make_implementation(
      {"kernels.conv_few_outputs", refuse,
       [](const OpView& view, const Machine& machine) -> std::unique_ptr<Kernel> {
         return std::make_unique<ConvFewKernel>(view, *describe_conv(view), machine);
       }});
}

}  // namespace mezzotint::kernels
