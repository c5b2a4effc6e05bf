#include "backend/cpu/kernels/conv_winograd/kernel.h"

#include <algorithm>
#include <optional>
#include <string>

#include "backend/cpu/kernels/conv_winograd/blocking.h"
#include "backend/cpu/kernels/conv_winograd/contract.h"
#include "backend/cpu/kernels/conv_winograd/source_transform.h"
#include "backend/cpu/kernels/conv_winograd/tile_grid.h"
#include "backend/cpu/kernels/conv_winograd/weights.h"
#include "backend/cpu/kernels/implementation.h"
#include "base/aligned_buffer.h"

namespace mezzotint::kernels {
namespace {

// A result larger than this leaves no cache undisturbed; it is written past them.
constexpr std::int64_t kStreamBytes = std::int64_t{24} << 20;

struct Source {
  std::size_t input = 0;
  std::int64_t elements = 0;       // of a sample
  std::int64_t first_channel = 0;  // in V, a multiple of a vector
  std::optional<std::size_t> coefficients;
  std::int64_t coefficient_offset = 0;    // in floats, of a sample's
  std::int64_t coefficient_elements = 0;  // of a sample
  SourceTransform transform;
};

class WinogradKernel final : public Kernel {
 public:
  WinogradKernel(const OpView& view, const ConvRegion& region, WinogradTile tile,
                 const Machine& machine)
      : region_(region),
        tile_(tile),
        stages_(for_isa(machine.isa, conv_winograd_avx2(), conv_winograd_avx512())),
        form_(tile == WinogradTile::k4 ? 1 : 0),
        shape_(view.output(0).type.shape),
        grid_(tile, {shape_[2], shape_[3], shape_[4]}),
        weight_name_(view.input(region.weight).name),
        bias_name_(region.bias ? view.input(*region.bias).name : "") {
    layout_.outputs = shape_[1];
    layout_.padded_outputs = round_up(shape_[1], stages_.lanes);
    layout_.panel = std::min(stages_.panel_vectors * stages_.lanes, layout_.padded_outputs);
    for (const ConvSource& from : region.sources) {
      layout_.sources.push_back({from.channels, round_up(from.channels, stages_.lanes)});
    }
    const WinogradSizes sizes{grid_.positions(), grid_.tiles(), layout_.channels(), layout_.panel,
                              layout_.panels()};
    segment_ = segment_tiles(grid_.tiles());
    segments_ = ceil_div(grid_.tiles(), segment_);
    block_ = block_tiles(sizes, segment_, machine.l2_bytes);
    const std::int64_t threads = std::max(machine.threads, 1);
    groups_ = panel_groups(sizes, shape_[0] * segments_, threads);
    slots_ = std::min(threads, shape_[0] * segments_ * groups_);
    v_stride_ = position_stride(block_ * layout_.channels());
    m_stride_ = position_stride(block_ * layout_.panel);
    add_sources(view);
  }

  std::size_t packed_bytes() const override {
    return static_cast<std::size_t>(layout_.elements(grid_.positions()) + layout_.padded_outputs) *
           sizeof(float);
  }
  std::size_t load_bytes() const override {
    std::int64_t channels = 0;
    for (const ChannelRange& source : layout_.sources) {
      channels += source.count;
    }
    return static_cast<std::size_t>(layout_.outputs * channels * 27) * sizeof(float);
  }
  std::size_t workspace_bytes() const override {
    return constants_bytes() + moments_bytes() +
           static_cast<std::size_t>(slots_) * align_up(slot_floats() * sizeof(float));
  }
  AliasableInputs aliasable_inputs() const override { return in_place_inputs(region_); }

  Status load(ParameterSource& source) override {
    auto packed = AlignedBuffer::allocate(packed_bytes());
    auto plain = AlignedBuffer::allocate(load_bytes());
    if (!packed || !plain) {
      return packed ? plain.error() : packed.error();
    }
    packed_ = std::move(*packed);
    if (Status status = source.read(weight_name_, plain->as<float>()); !status) {
      return status;
    }
    const auto elements = static_cast<std::size_t>(layout_.elements(grid_.positions()));
    const std::span<float> all = packed_.as<float>();
    pack_weights(winograd_matrices(tile_), layout_, plain->as<float>(), all.first(elements));
    const std::span<float> bias = all.subspan(elements);
    std::ranges::fill(bias, 0.0F);
    return bias_name_.empty()
               ? Status{}
               : source.read(bias_name_, bias.first(static_cast<std::size_t>(layout_.outputs)));
  }

  void launch(const LaunchContext& context) const override {
    add_constants(context);
    const std::int64_t tasks_per_sample = segments_ * groups_;
    context.team.parallel_for_slots(shape_[0] * tasks_per_sample, slots_,
                                    [&](std::int64_t task, std::int64_t slot) {
                                      const std::int64_t rest = task % tasks_per_sample;
                                      run_segment({context, task / tasks_per_sample, rest / groups_,
                                                   rest % groups_, slot_memory(context, slot)});
                                    });
    if (region_.moments) {
      merge_moments(context);
    }
  }

 private:
  struct Task {
    const LaunchContext& context;
    std::int64_t sample;
    std::int64_t segment;
    std::int64_t group;  // of panels
    float* memory;
  };
  struct Block {
    std::int64_t first = 0;  // tile
    std::int64_t tiles = 0;
  };

  void add_sources(const OpView& view) {
    std::int64_t first_channel = 0;
    for (const ConvSource& from : region_.sources) {
      const Shape& shape = view.input(from.input).type.shape;
      const SourceForm form{from.channels,
                            {shape[2], shape[3], shape[4]},
                            from.upsample,
                            from.coefficients.has_value(),
                            from.silu};
      const std::int64_t all_channels =
          from.coefficients ? view.input(*from.coefficients).type.shape[1] : 0;
      sources_.push_back({from.input, shape.elements() / shape[0], first_channel, from.coefficients,
                          2 * from.channel_offset, 2 * all_channels,
                          SourceTransform(form, grid_, stages_, layout_.channels(), v_stride_)});
      first_channel += round_up(from.channels, stages_.lanes);
    }
  }

  // Workspace: constants, moments, then per slot V, M and the sources' scratch.
  std::size_t constants_bytes() const {
    return align_up(static_cast<std::size_t>(shape_[0] * layout_.padded_outputs) * sizeof(float));
  }
  std::size_t moments_bytes() const {
    return region_.moments ? align_up(static_cast<std::size_t>(shape_[0] * segments_) *
                                      moments_per_segment() * sizeof(double))
                           : 0;
  }
  std::size_t moments_per_segment() const {
    return static_cast<std::size_t>(2 * layout_.padded_outputs);
  }
  std::int64_t v_floats() const { return grid_.positions() * v_stride_; }
  std::int64_t m_floats() const { return grid_.positions() * m_stride_; }
  std::size_t slot_floats() const {
    return static_cast<std::size_t>(v_floats() + m_floats() +
                                    SourceTransform::scratch_floats(grid_, stages_));
  }
  float* constants(const LaunchContext& context) const {
    return reinterpret_cast<float*>(context.workspace);
  }
  double* moments(const LaunchContext& context) const {
    return reinterpret_cast<double*>(context.workspace + constants_bytes());
  }
  float* slot_memory(const LaunchContext& context, std::int64_t slot) const {
    return reinterpret_cast<float*>(context.workspace + constants_bytes() + moments_bytes() +
                                    static_cast<std::size_t>(slot) *
                                        align_up(slot_floats() * sizeof(float)));
  }

  // [N, padded outputs] of bias + time vector.
  void add_constants(const LaunchContext& context) const {
    const float* bias = packed_.as<float>().data() + layout_.elements(grid_.positions());
    const float* time =
        region_.time_vector ? context.inputs[*region_.time_vector].as<const float>() : nullptr;
    fill_constants(bias, time, shape_[0], layout_.outputs, layout_.padded_outputs,
                   constants(context));
  }

  void run_segment(const Task& task) const {
    const std::int64_t begin = task.segment * segment_;
    const std::int64_t end = std::min(begin + segment_, grid_.tiles());
    const std::int64_t first_panel = task.group * layout_.panels() / groups_;
    const std::int64_t end_panel = (task.group + 1) * layout_.panels() / groups_;
    clear_moments(task, first_panel, end_panel);
    for (std::int64_t first = begin; first < end; first += block_) {
      const Block block{first, std::min(block_, end - first)};
      for (const Source& source : sources_) {
        transform(task, source, block);
      }
      for (std::int64_t panel = first_panel; panel < end_panel; ++panel) {
        multiply(task, block, panel, panel + 1 < end_panel ? panel + 1 : first_panel);
        finish(task, block, panel);
      }
    }
    stages_.fence();
  }

  void transform(const Task& task, const Source& source, const Block& block) const {
    const float* x = task.context.inputs[source.input].as<const float>();
    const float* coefficients = source.coefficients
                                    ? task.context.inputs[*source.coefficients].as<const float>() +
                                          task.sample * source.coefficient_elements +
                                          source.coefficient_offset
                                    : nullptr;
    source.transform.run(x + task.sample * source.elements, coefficients, block.first, block.tiles,
                         task.memory + source.first_channel, task.memory + v_floats() + m_floats());
  }

  void multiply(const Task& task, const Block& block, std::int64_t panel,
                std::int64_t next_panel) const {
    const std::int64_t width = layout_.panel_width(panel);
    const std::int64_t step = layout_.channels() * width;
    const float* weights = packed_.as<float>().data();
    const float* u = weights + layout_.panel_offset(panel, grid_.positions());
    WinogradProduct product{};
    product.tiles = block.tiles;
    product.channels = layout_.channels();
    product.vectors = width / stages_.lanes;
    for (std::int64_t position = 0; position < grid_.positions(); ++position) {
      product.v = task.memory + position * v_stride_;
      product.m = task.memory + v_floats() + position * m_stride_;
      product.u = u + position * step;
      product.next = position + 1 < grid_.positions()
                         ? product.u + step
                         : weights + layout_.panel_offset(next_panel, grid_.positions());
      stages_.multiply(product);
    }
  }

  void finish(const Task& task, const Block& block, std::int64_t panel) const {
    const std::int64_t width = layout_.panel_width(panel);
    const std::int64_t first_channel = panel * layout_.panel;
    const std::int64_t sample = task.sample * (shape_.elements() / shape_[0]) + first_channel;
    WinogradOutput out{};
    out.position_stride = m_stride_;
    out.channels = std::min(width, layout_.outputs - first_channel);
    out.stride_x = layout_.outputs;
    out.stride_y = shape_[4] * out.stride_x;
    out.stride_z = shape_[3] * out.stride_y;
    out.constants = constants(task.context) + task.sample * layout_.padded_outputs + first_channel;
    if (region_.moments) {
      out.sums = segment_moments(task) + first_channel;
      out.squares = out.sums + layout_.padded_outputs;
    }
    auto* y = task.context.outputs[0].as<float>() + sample;
    const float* residual = region_.residual
                                ? task.context.inputs[*region_.residual].as<const float>() + sample
                                : nullptr;
    out.stream = streams(y);
    for (std::int64_t i = 0; i < block.tiles; ++i) {
      const TilePosition at = grid_.position(block.first + i);
      const std::int64_t offset =
          grid_.outputs() * (at.z * out.stride_z + at.y * out.stride_y + at.x * out.stride_x);
      out.products = task.memory + v_floats() + i * width;
      out.valid_z = grid_.valid_outputs(0, at.z);
      out.valid_y = grid_.valid_outputs(1, at.y);
      out.valid_x = grid_.valid_outputs(2, at.x);
      out.out = y + offset;
      out.residual = residual != nullptr ? residual + offset : nullptr;
      stages_.finish[form_](out);
    }
  }

  // Streaming stores want whole aligned vectors.
  bool streams(const float* y) const {
    const auto vector_bytes = static_cast<std::uintptr_t>(stages_.lanes) * sizeof(float);
    return shape_.elements() * std::int64_t{sizeof(float)} > kStreamBytes &&
           layout_.outputs % stages_.lanes == 0 &&
           reinterpret_cast<std::uintptr_t>(y) % vector_bytes == 0;
  }

  double* segment_moments(const Task& task) const {
    return moments(task.context) +
           static_cast<std::size_t>(task.sample * segments_ + task.segment) * moments_per_segment();
  }

  void clear_moments(const Task& task, std::int64_t first_panel, std::int64_t end_panel) const {
    if (!region_.moments) {
      return;
    }
    const std::int64_t first = first_panel * layout_.panel;
    const std::int64_t end = std::min(end_panel * layout_.panel, layout_.padded_outputs);
    double* sums = segment_moments(task);
    std::fill(sums + first, sums + end, 0.0);
    std::fill(sums + layout_.padded_outputs + first, sums + layout_.padded_outputs + end, 0.0);
  }

  // Segments one after the other: their number depends on the shape alone.
  void merge_moments(const LaunchContext& context) const {
    auto* out = context.outputs[*region_.moments].as<double>();
    const auto count = static_cast<double>(shape_[2] * shape_[3] * shape_[4]);
    const std::int64_t padded = layout_.padded_outputs;
    for (std::int64_t n = 0; n < shape_[0]; ++n) {
      double* total =
          moments(context) + static_cast<std::size_t>(n * segments_) * moments_per_segment();
      for (std::int64_t s = 1; s < segments_; ++s) {
        const double* more = total + static_cast<std::size_t>(s) * moments_per_segment();
        for (std::int64_t i = 0; i < 2 * padded; ++i) {
          total[i] += more[i];
        }
      }
      for (std::int64_t c = 0; c < layout_.outputs; ++c) {
        const double mean = total[c] / count;
        double* pair = out + 2 * (n * layout_.outputs + c);
        pair[0] = mean;
        pair[1] = std::max(total[padded + c] / count - mean * mean, 0.0);
      }
    }
  }

  ConvRegion region_;
  WinogradTile tile_;
  const WinogradStages& stages_;
  std::size_t form_;
  Shape shape_;  // of the result
  TileGrid grid_;
  std::string weight_name_;
  std::string bias_name_;
  std::vector<Source> sources_;
  PackedLayout layout_;
  std::int64_t segment_ = 0;
  std::int64_t segments_ = 0;
  std::int64_t block_ = 0;
  std::int64_t groups_ = 1;
  std::int64_t slots_ = 1;
  std::int64_t v_stride_ = 0;
  std::int64_t m_stride_ = 0;
  AlignedBuffer packed_;
};

}  // namespace

std::unique_ptr<Kernel> make_winograd_kernel(const OpView& view, const ConvRegion& region,
                                             WinogradTile tile, const Machine& machine) {
  return std::make_unique<WinogradKernel>(view, region, tile, machine);
}

}  // namespace mezzotint::kernels
