#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <span>
#include <string>
#include <vector>

#include "backend/cpu/kernels/conv_few_inputs/contract.h"
#include "backend/cpu/kernels/implementation.h"
#include "backend/cpu/kernels/kernel_ops.h"
#include "backend/cpu/kernels/moments/block_moments.h"
#include "base/aligned_buffer.h"
#include "graph/conv_region.h"

namespace mezzotint::kernels {
namespace {

constexpr std::int64_t kTaps = 27;
// Output elements of a block: 256 KiB. Its input rows, staged, are far less.
constexpr std::int64_t kBlockElements = 65536;

std::int64_t channels_of(const ConvRegion& region) {
  return std::accumulate(
      region.sources.begin(), region.sources.end(), std::int64_t{0},
      [](std::int64_t sum, const ConvSource& source) { return sum + source.channels; });
}

// Rows of one plane that one worker makes.
std::int64_t block_rows(const Shape& out) {
  return std::clamp<std::int64_t>(kBlockElements / (out[4] * out[1]), 1, out[3]);
}

class ConvFewInputsKernel final : public Kernel {
 public:
  ConvFewInputsKernel(const OpView& view, ConvRegion region, const Machine& machine)
      : region_(std::move(region)),
        functions_(for_isa(machine.isa, conv_few_inputs_avx2(), conv_few_inputs_avx512())),
        shape_(view.output().type.shape),
        channels_(channels_of(region_)),
        padded_outputs_(round_up(shape_[1], functions_.panel_channels)),
        block_rows_(block_rows(shape_)),
        moments_(rows_of(shape_), shape_[3] * shape_[4], block_rows_ * shape_[4]),
        tasks_(shape_[0] * moments_.blocks()),
        slots_(std::min<std::int64_t>(std::max(machine.threads, 1), tasks_)),
        weight_name_(view.input(region_.weight).name),
        bias_name_(region_.bias ? view.input(*region_.bias).name : "") {
    for (const ConvSource& source : region_.sources) {
      layouts_.push_back(view.input(source.input).type.layout);
    }
  }

  // Constants, then moments of every block, then for each slot its sums and its staged rows.
  std::size_t workspace_bytes() const override {
    return constants_bytes() + moments_bytes() + static_cast<std::size_t>(slots_) * slot_bytes();
  }
  // Weights, then bias.
  std::size_t packed_bytes() const override {
    return static_cast<std::size_t>(weight_floats() + padded_outputs_) * sizeof(float);
  }
  std::size_t load_bytes() const override {
    return static_cast<std::size_t>(depth() * shape_[1]) * sizeof(float);
  }
  AliasableInputs aliasable_inputs() const override { return in_place_inputs(region_); }

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
    const std::int64_t width = functions_.panel_channels;
    for (std::int64_t o = 0; o < shape_[1]; ++o) {
      float* to = all.data() + o / width * depth() * width + o % width;
      for (std::int64_t k = 0; k < depth(); ++k) {
        to[k * width] = from[o * depth() + k % channels_ * kTaps + k / channels_];
      }
    }
    if (bias_name_.empty()) {
      return {};
    }
    return source.read(bias_name_, all.subspan(static_cast<std::size_t>(weight_floats()),
                                               static_cast<std::size_t>(shape_[1])));
  }

  void launch(const LaunchContext& context) const override {
    add_constants(context);
    std::byte* blocks = context.workspace + constants_bytes();
    auto* moments = reinterpret_cast<BlockMoments::Moments*>(blocks);
    std::byte* slots = blocks + moments_bytes();
    context.team.parallel_for_slots(tasks_, slots_, [&](std::int64_t task, std::int64_t slot) {
      std::byte* memory = slots + static_cast<std::size_t>(slot) * slot_bytes();
      auto* sums = region_.moments ? reinterpret_cast<double*>(memory) : nullptr;
      auto* staged = reinterpret_cast<float*>(memory + sums_bytes());
      const Block block = block_at(task);
      stage(context, block, staged);
      compute(context, block, staged, sums);
      if (region_.moments) {
        moments_.set(moments, block.sample, task % moments_.blocks(), sums, sums + padded_outputs_);
      }
    });
    if (region_.moments) {
      moments_.finish(context.team, moments, context.outputs[*region_.moments].as<double>());
    }
  }

 private:
  struct Block {
    std::int64_t sample;
    std::int64_t depth;
    std::int64_t first_row;
    std::int64_t rows;
  };

  Block block_at(std::int64_t task) const {
    const std::int64_t index = task % moments_.blocks();
    const std::int64_t first = moments_.block_begin(index) / shape_[4];
    return {task / moments_.blocks(), first / shape_[3], first % shape_[3],
            moments_.block_positions(index) / shape_[4]};
  }

  std::int64_t depth() const { return kTaps * channels_; }
  std::int64_t weight_floats() const { return depth() * padded_outputs_; }
  std::int64_t staged_row() const { return (shape_[4] + 2) * channels_; }

  std::size_t constants_bytes() const {
    return align_up(static_cast<std::size_t>(shape_[0] * padded_outputs_) * sizeof(float));
  }
  std::size_t moments_bytes() const { return region_.moments ? align_up(moments_.bytes()) : 0; }
  std::size_t sums_bytes() const {
    return region_.moments ? static_cast<std::size_t>(2 * padded_outputs_) * sizeof(double) : 0;
  }
  std::size_t slot_bytes() const {
    return align_up(sums_bytes() +
                    static_cast<std::size_t>(3 * (block_rows_ + 2) * staged_row()) * sizeof(float));
  }

  // [samples][padded outputs] of bias + time vector.
  void add_constants(const LaunchContext& context) const {
    const float* time =
        region_.time_vector ? context.inputs[*region_.time_vector].as<const float>() : nullptr;
    fill_constants(packed_.as<float>().data() + weight_floats(), time, shape_[0], shape_[1],
                   padded_outputs_, reinterpret_cast<float*>(context.workspace));
  }

  // Copies the rows that the block reads, all sources' channels side by side, with zeros where they
  // reach beyond the volume: [3][rows + 2][width + 2].
  void stage(const LaunchContext& context, const Block& block, float* to) const {
    for (std::int64_t z = block.depth - 1; z <= block.depth + 1; ++z) {
      for (std::int64_t y = block.first_row - 1; y <= block.first_row + block.rows; ++y) {
        if (z < 0 || z >= shape_[2] || y < 0 || y >= shape_[3]) {
          std::fill_n(to, staged_row(), 0.0F);
        } else {
          std::fill_n(to, channels_, 0.0F);
          std::fill_n(to + staged_row() - channels_, channels_, 0.0F);
          float* positions = to + channels_;
          for (std::size_t s = 0; s < layouts_.size(); ++s) {
            stage_row(context, s, block.sample, z * shape_[3] + y, positions);
            positions += region_.sources[s].channels;
          }
        }
        to += staged_row();
      }
    }
  }

  // `row` counts the rows of all planes.
  void stage_row(const LaunchContext& context, std::size_t s, std::int64_t sample, std::int64_t row,
                 float* to) const {
    const ConvSource& source = region_.sources[s];
    const std::int64_t width = shape_[4];
    const std::int64_t positions = shape_[2] * shape_[3] * width;
    const bool row_major = layouts_[s] == Layout::kRowMajor;
    const std::int64_t position_step = row_major ? 1 : source.channels;
    const std::int64_t channel_step = row_major ? positions : 1;
    const auto* from = context.inputs[source.input].as<const float>() +
                       sample * source.channels * positions + row * width * position_step;
    if (!row_major && source.channels == channels_) {
      std::copy_n(from, width * channels_, to);
      return;
    }
    for (std::int64_t c = 0; c < source.channels; ++c) {
      for (std::int64_t x = 0; x < width; ++x) {
        to[x * channels_ + c] = from[c * channel_step + x * position_step];
      }
    }
  }

  void compute(const LaunchContext& context, const Block& block, const float* staged,
               double* sums) const {
    std::fill_n(sums, sums_bytes() / sizeof(double), 0.0);
    const std::int64_t row = (block.sample * shape_[2] + block.depth) * shape_[3] + block.first_row;
    for (std::int64_t channel = 0; channel < shape_[1]; channel += functions_.panel_channels) {
      PanelOutput to = output_of(context, block.sample, channel, sums);
      for (std::int64_t y = 0; y < block.rows; ++y) {
        ConvFewInputsRow spec{};
        for (std::int64_t k = 0; k < 9; ++k) {
          spec.rows[k] = staged + (k / 3 * (block.rows + 2) + y + k % 3) * staged_row();
        }
        spec.weights = packed_.as<float>().data() + channel * depth();
        spec.width = shape_[4];
        spec.channels = channels_;
        to.offset = (row + y) * shape_[4] * shape_[1] + channel;
        functions_.conv_row(spec, to);
      }
    }
  }

  PanelOutput output_of(const LaunchContext& context, std::int64_t sample, std::int64_t channel,
                        double* sums) const {
    PanelOutput to{};
    to.out = context.outputs[0].as<float>();
    if (region_.residual) {
      to.residual = context.inputs[*region_.residual].as<const float>();
    }
    to.constants =
        reinterpret_cast<const float*>(context.workspace) + sample * padded_outputs_ + channel;
    if (sums != nullptr) {
      to.sums = sums + channel;
      to.squares = to.sums + padded_outputs_;
    }
    to.stride = shape_[1];
    to.channels = std::min(functions_.panel_channels, shape_[1] - channel);
    return to;
  }

  ConvRegion region_;
  const ConvFewInputsKernels& functions_;
  Shape shape_;  // of the output
  std::int64_t channels_;
  std::int64_t padded_outputs_;
  std::int64_t block_rows_;
  BlockMoments moments_;  // its blocks are the tasks
  std::int64_t tasks_;
  std::int64_t slots_;
  std::string weight_name_;
  std::string bias_name_;
  std::vector<Layout> layouts_;  // of the sources
  AlignedBuffer packed_;
};

Refusal refuse_values(const OpView& view, const ConvRegion& region) {
  for (const ConvSource& source : region.sources) {
    if (source.coefficients || source.upsample) {
      return "computes plain sources, nothing done while loading";
    }
    if (auto reason = refuse_unless_f32(view.input(source.input), "x")) {
      return reason;
    }
  }
  if (view.input(region.weight).kind != ValueKind::kParameter ||
      (region.bias && view.input(*region.bias).kind != ValueKind::kParameter)) {
    return "weights and bias must be parameters";
  }
  if (region.time_vector) {
    if (auto reason = refuse_unless_f32(view.input(*region.time_vector), "the time vector")) {
      return reason;
    }
  }
  if (region.residual) {
    if (auto reason =
            refuse_unless_channels_innermost(view.input(*region.residual), "the residual")) {
      return reason;
    }
  }
  return refuse_unless_channels_innermost(view.output(), "the result");
}

Refusal refuse(const OpView& view) {
  const auto region = describe_conv(view);
  if (!region) {
    return "not a convolution region of known form";
  }
  const std::int64_t channels = channels_of(*region);
  if (channels > ConvFewInputsKernels::kMostChannels) {
    return fmt::format("made for at most {} input channels, has {}",
                       ConvFewInputsKernels::kMostChannels, channels);
  }
  if (auto reason = refuse_unless_cube3(view, *region)) {
    return reason;
  }
  return refuse_values(view, *region);
}

}  // namespace

std::unique_ptr<Implementation> make_conv_few_inputs() {
  return make_implementation(
      {"kernels.conv_few_inputs", refuse,
       [](const OpView& view, const Machine& machine) -> std::unique_ptr<Kernel> {
         return std::make_unique<ConvFewInputsKernel>(view, *describe_conv(view), machine);
       }});
}

}  // namespace mezzotint::kernels
