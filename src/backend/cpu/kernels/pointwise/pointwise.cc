#include <algorithm>
#include <numeric>

#include "backend/cpu/kernels/implementation.h"
#include "backend/cpu/kernels/kernel_ops.h"
#include "backend/cpu/kernels/pointwise/contract.h"
#include "base/aligned_buffer.h"

namespace mezzotint::kernels {
namespace {

// Elements that one worker takes at a time: 64 KiB per operand, well inside an L2 cache.
constexpr std::int64_t kBlock = 16384;

const PointwiseKernels& pointwise_for(const Machine& machine) {
  return for_isa(machine.isa, pointwise_avx2(), pointwise_avx512());
}

// Calls body(begin, count) over [0, total) in blocks whose beginnings are multiples of `unit`.
template <typename Body>
void for_each_block(const ThreadTeam& team, std::int64_t total, std::int64_t unit,
                    const Body& body) {
  const std::int64_t block = round_up(kBlock, unit);
  team.parallel_for(ceil_div(total, block),
                    [&](std::int64_t i) { body(i * block, std::min(block, total - i * block)); });
}

class SiluKernel final : public Kernel {
 public:
  SiluKernel(std::int64_t elements, const PointwiseKernels& functions)
      : elements_(elements), functions_(functions) {}
  AliasableInputs aliasable_inputs() const override { return {0}; }
  void launch(const LaunchContext& context) const override {
    const auto* x = context.inputs[0].as<const float>();
    auto* y = context.outputs[0].as<float>();
    for_each_block(context.team, elements_, 1, [&](std::int64_t begin, std::int64_t count) {
      functions_.silu(x + begin, y + begin, count);
    });
  }

 private:
  std::int64_t elements_;
  const PointwiseKernels& functions_;
};

class AddKernel final : public Kernel {
 public:
  AddKernel(std::int64_t elements, const PointwiseKernels& functions)
      : elements_(elements), functions_(functions) {}
  AliasableInputs aliasable_inputs() const override { return {0, 1}; }
  void launch(const LaunchContext& context) const override {
    const auto* a = context.inputs[0].as<const float>();
    const auto* b = context.inputs[1].as<const float>();
    auto* y = context.outputs[0].as<float>();
    for_each_block(context.team, elements_, 1, [&](std::int64_t begin, std::int64_t count) {
      functions_.add(a + begin, b + begin, y + begin, count);
    });
  }

 private:
  std::int64_t elements_;
  const PointwiseKernels& functions_;
};

// Tables for channels-innermost operands: the channel vector repeated to `period` elements.
class PeriodicKernel : public Kernel {
 public:
  PeriodicKernel(const Rows& rows, const PointwiseKernels& functions)
      : rows_(rows), functions_(functions) {
    constexpr std::int64_t kLeastPeriod = 64;  // so that the loop over one table is worth starting
    const std::int64_t smallest = std::lcm(rows.channels, PointwiseKernels::kPeriodUnit);
    period_ = round_up(kLeastPeriod, smallest);
  }
  AliasableInputs aliasable_inputs() const override { return {0}; }

 protected:
  // table[i] = values[(i % channels) * stride]
  void fill_table(const float* values, std::int64_t stride, float* table) const {
    for (std::int64_t i = 0; i < period_; ++i) {
      table[i] = values[(i % rows_.channels) * stride];
    }
  }

  Rows rows_;
  std::int64_t period_ = 0;
  const PointwiseKernels& functions_;
};

class AddChannelsKernel final : public PeriodicKernel {
 public:
  using PeriodicKernel::PeriodicKernel;
  std::size_t workspace_bytes() const override {
    return static_cast<std::size_t>(period_) * sizeof(float);
  }
  void launch(const LaunchContext& context) const override {
    auto* table = reinterpret_cast<float*>(context.workspace);
    for (std::int64_t n = 0; n < rows_.samples; ++n) {
      fill_table(context.inputs[1].as<const float>() + n * rows_.channels, 1, table);
      const float* x = context.inputs[0].as<const float>() + n * rows_.sample_elements();
      float* y = context.outputs[0].as<float>() + n * rows_.sample_elements();
      for_each_block(context.team, rows_.sample_elements(), period_,
                     [&](std::int64_t begin, std::int64_t count) {
                       functions_.add_periodic(x + begin, table, period_, y + begin, count);
                     });
    }
  }
};

class AffineKernel final : public PeriodicKernel {
 public:
  AffineKernel(const OpView& view, const PointwiseKernels& functions)
      : PeriodicKernel(rows_of(view.output().type.shape), functions),
        coefficient_channels_(view.input(1).type.shape[1]),
        channel_offset_(view.op.attributes.integer("channel_offset", 0)),
        apply_(view.op.attributes.text("activation", "none") == "silu" ? functions.affine_silu
                                                                       : functions.affine) {}
  std::size_t workspace_bytes() const override {
    return 2 * static_cast<std::size_t>(period_) * sizeof(float);
  }
  void launch(const LaunchContext& context) const override {
    auto* scale = reinterpret_cast<float*>(context.workspace);
    float* shift = scale + period_;
    for (std::int64_t n = 0; n < rows_.samples; ++n) {
      const float* pairs =
          context.inputs[1].as<const float>() + 2 * (n * coefficient_channels_ + channel_offset_);
      fill_table(pairs, 2, scale);
      fill_table(pairs + 1, 2, shift);
      const float* x = context.inputs[0].as<const float>() + n * rows_.sample_elements();
      float* y = context.outputs[0].as<float>() + n * rows_.sample_elements();
      for_each_block(context.team, rows_.sample_elements(), period_,
                     [&](std::int64_t begin, std::int64_t count) {
                       apply_(x + begin, scale, shift, period_, y + begin, count);
                     });
    }
  }

 private:
  std::int64_t coefficient_channels_;
  std::int64_t channel_offset_;
  decltype(PointwiseKernels::affine) apply_;
};

Refusal refuse_elementwise(const OpView& view) {
  return refuse_unless_f32(view.input(0), "x");
}

Refusal refuse_periodic(const OpView& view) {
  if (auto reason = refuse_unless_channels_innermost(view.input(0), "x")) {
    return reason;
  }
  return refuse_unless_f32(view.input(1), "the per-channel operand");
}

}  // namespace

std::unique_ptr<Implementation> make_silu() {
  return make_implementation(
      {"kernels.silu", refuse_elementwise,
       [](const OpView& view, const Machine& machine) -> std::unique_ptr<Kernel> {
         return std::make_unique<SiluKernel>(view.output().type.shape.elements(),
                                             pointwise_for(machine));
       }});
}

std::unique_ptr<Implementation> make_add() {
  return make_implementation(
      {"kernels.add", refuse_elementwise,
       [](const OpView& view, const Machine& machine) -> std::unique_ptr<Kernel> {
         return std::make_unique<AddKernel>(view.output().type.shape.elements(),
                                            pointwise_for(machine));
       }});
}

std::unique_ptr<Implementation> make_add_channels() {
  return make_implementation(
      {"kernels.add_channels", refuse_periodic,
       [](const OpView& view, const Machine& machine) -> std::unique_ptr<Kernel> {
         return std::make_unique<AddChannelsKernel>(rows_of(view.output().type.shape),
                                                    pointwise_for(machine));
       }});
}

std::unique_ptr<Implementation> make_affine() {
  return make_implementation(
      {"kernels.affine", refuse_periodic,
       [](const OpView& view, const Machine& machine) -> std::unique_ptr<Kernel> {
         return std::make_unique<AffineKernel>(view, pointwise_for(machine));
       }});
}

}  // namespace mezzotint::kernels
