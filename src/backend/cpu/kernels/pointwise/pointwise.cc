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

// Calls body(begin, count) over [0, total).
template <typename Body>
void for_each_block(const ThreadTeam& team, std::int64_t total, const Body& body) {
  team.parallel_for(ceil_div(total, kBlock), [&](std::int64_t i) {
    body(i * kBlock, std::min(kBlock, total - i * kBlock));
  });
}

class SiluKernel final : public Kernel {
 public:
  SiluKernel(std::int64_t elements, const PointwiseKernels& functions)
      : elements_(elements), functions_(functions) {}
  AliasableInputs aliasable_inputs() const override { return {0}; }
  void launch(const LaunchContext& context) const override {
    const auto* x = context.inputs[0].as<const float>();
    auto* y = context.outputs[0].as<float>();
    for_each_block(context.team, elements_, [&](std::int64_t begin, std::int64_t count) {
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
    for_each_block(context.team, elements_, [&](std::int64_t begin, std::int64_t count) {
      functions_.add(a + begin, b + begin, y + begin, count);
    });
  }

 private:
  std::int64_t elements_;
  const PointwiseKernels& functions_;
};

// Per-channel operands as tables: with channels innermost, the channel vector repeated to `period`
// elements; in row-major order, of each channel its one value.
class PeriodicKernel : public Kernel {
 public:
  PeriodicKernel(const ValueType& type, std::int64_t tables)
      : rows_(rows_of(type)), channels_(type.shape[1]), tables_(tables) {
    constexpr std::int64_t kLeastPeriod = 64;  // so that the loop over one table is worth starting
    const std::int64_t smallest = std::lcm(rows_.channels, PointwiseKernels::kPeriodUnit);
    period_ = round_up(kLeastPeriod, smallest);
  }
  AliasableInputs aliasable_inputs() const override { return {0}; }
  std::size_t workspace_bytes() const override {
    return static_cast<std::size_t>(rows_.samples * tables_ * period_) * sizeof(float);
  }

  void launch(const LaunchContext& context) const override {
    auto* tables = reinterpret_cast<float*>(context.workspace);
    for (std::int64_t row = 0; row < rows_.samples; ++row) {
      const std::int64_t first = row * rows_.channels;
      fill_tables(context, first / channels_, first % channels_, tables + row * tables_ * period_);
    }
    const auto* x = context.inputs[0].as<const float>();
    auto* y = context.outputs[0].as<float>();
    const std::int64_t elements = rows_.sample_elements();
    const std::int64_t block = round_up(kBlock, period_);
    const std::int64_t blocks = ceil_div(elements, block);
    context.team.parallel_for(rows_.samples * blocks, [&](std::int64_t task) {
      const std::int64_t row = task / blocks;
      const std::int64_t within = task % blocks * block;
      const std::int64_t begin = row * elements + within;
      apply(x + begin, tables + row * tables_ * period_, y + begin,
            std::min(block, elements - within));
    });
  }

 protected:
  [[nodiscard]] std::int64_t period() const { return period_; }

  // table[i] = values[(i % channels) * stride], of as many channels as lie side by side
  void fill_table(const float* values, std::int64_t stride, float* table) const {
    for (std::int64_t i = 0; i < period_; ++i) {
      table[i] = values[(i % rows_.channels) * stride];
    }
  }

 private:
  // Those of the channels from `channel` on.
  virtual void fill_tables(const LaunchContext& context, std::int64_t sample, std::int64_t channel,
                           float* tables) const = 0;
  virtual void apply(const float* x, const float* tables, float* y, std::int64_t count) const = 0;

  Rows rows_;
  std::int64_t channels_;
  std::int64_t tables_;
  std::int64_t period_ = 0;
};

class AddChannelsKernel final : public PeriodicKernel {
 public:
  AddChannelsKernel(const ValueType& type, const PointwiseKernels& functions)
      : PeriodicKernel(type, 1), channels_(type.shape[1]), add_(functions.add_periodic) {}

 private:
  void fill_tables(const LaunchContext& context, std::int64_t sample, std::int64_t channel,
                   float* tables) const override {
    fill_table(context.inputs[1].as<const float>() + sample * channels_ + channel, 1, tables);
  }
  void apply(const float* x, const float* tables, float* y, std::int64_t count) const override {
    add_(x, tables, period(), y, count);
  }

  std::int64_t channels_;
  decltype(PointwiseKernels::add_periodic) add_;
};

class AffineKernel final : public PeriodicKernel {
 public:
  AffineKernel(const OpView& view, const PointwiseKernels& functions)
      : PeriodicKernel(view.output().type, 2),
        coefficient_channels_(view.input(1).type.shape[1]),
        channel_offset_(view.op.attributes.integer("channel_offset", 0)),
        apply_(view.op.attributes.text("activation", "none") == "silu" ? functions.affine_silu
                                                                       : functions.affine) {}

 private:
  void fill_tables(const LaunchContext& context, std::int64_t sample, std::int64_t channel,
                   float* tables) const override {
    const float* pairs = context.inputs[1].as<const float>() +
                         2 * (sample * coefficient_channels_ + channel_offset_ + channel);
    fill_table(pairs, 2, tables);
    fill_table(pairs + 1, 2, tables + period());
  }
  void apply(const float* x, const float* tables, float* y, std::int64_t count) const override {
    apply_(x, tables, tables + period(), period(), y, count);
  }

  std::int64_t coefficient_channels_;
  std::int64_t channel_offset_;
  decltype(PointwiseKernels::affine) apply_;
};

Refusal refuse_elementwise(const OpView& view) {
  return refuse_unless_f32(view.input(0), "x");
}

Refusal refuse_periodic(const OpView& view) {
  if (auto reason = refuse_unless_channels_and_positions(view.input(0), "x")) {
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
         return std::make_unique<AddChannelsKernel>(view.output().type, pointwise_for(machine));
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
