#include "backend/cpu/kernels/conv_winograd/kernel.h"

#include <algorithm>
#include <array>
#include <string>

#include "backend/cpu/kernels/conv_winograd/blocking.h"
#include "backend/cpu/kernels/conv_winograd/contract.h"
#include "backend/cpu/kernels/conv_winograd/tile_grid.h"
#include "backend/cpu/kernels/conv_winograd/weights.h"
#include "backend/cpu/kernels/implementation.h"
#include "base/aligned_buffer.h"

namespace mezzotint::kernels {
namespace {

// A result larger than this leaves no cache undisturbed; it is written past them.
constexpr std::int64_t kStreamBytes = std::int64_t{24} << 20;
// Tiles along a row that are staged at a time: 115 KB for F(4) on AVX-512, a part of L2.
constexpr std::int64_t kStagedTiles = 12;

struct Source {
  std::size_t input = 0;
  std::int64_t channels = 0;
  std::int64_t first_channel = 0;  // in V, a multiple of a vector
  bool upsample = false;
  std::optional<std::size_t> coefficients;
  std::int64_t coefficient_offset = 0;
  std::int64_t coefficient_channels = 0;
  bool silu = false;
  std::array<std::int64_t, 3> extents{};  // of the source: D, H, W
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
      add_source(view, from);
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
  // The residual, unless it is a source as well: neighbouring tiles read the borders of a source
  // after this tile has been written.
  AliasableInputs aliasable_inputs() const override {
    const auto is_residual = [&](const ConvSource& source) {
      return source.input == region_.residual;
    };
    if (!region_.residual || std::ranges::any_of(region_.sources, is_residual)) {
      return {};
    }
    return {*region_.residual};
  }

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

    [[nodiscard]] const float* source(const Source& from) const {
      const std::int64_t elements =
          from.extents[0] * from.extents[1] * from.extents[2] * from.channels;
      return context.inputs[from.input].as<const float>() + sample * elements;
    }
  };
  struct Block {
    std::int64_t first = 0;  // tile
    std::int64_t tiles = 0;
  };

  void add_source(const OpView& view, const ConvSource& from) {
    Source source;
    source.input = from.input;
    source.channels = from.channels;
    source.first_channel = layout_.channels();
    source.upsample = from.upsample;
    source.coefficients = from.coefficients;
    source.coefficient_offset = from.channel_offset;
    if (from.coefficients) {
      source.coefficient_channels = view.input(*from.coefficients).type.shape[1];
    }
    source.silu = from.silu;
    const Shape& shape = view.input(from.input).type.shape;
    source.extents = {shape[2], shape[3], shape[4]};
    sources_.push_back(source);
    layout_.sources.push_back({from.channels, round_up(from.channels, stages_.lanes)});
  }

  // Workspace: constants, moments, then per slot V, M, the staged box and a vector's coefficients.
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
  std::int64_t staged_floats() const {
    const std::int64_t row = grid_.outputs() * (kStagedTiles - 1) + grid_.inputs();
    return grid_.inputs() * grid_.inputs() * row * stages_.lanes;
  }
  std::size_t slot_floats() const {
    return static_cast<std::size_t>(v_floats() + m_floats() + staged_floats() + 2 * stages_.lanes);
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
    for (std::int64_t n = 0; n < shape_[0]; ++n) {
      float* row = constants(context) + n * layout_.padded_outputs;
      std::copy_n(bias, layout_.padded_outputs, row);
      if (region_.time_vector) {
        const float* time =
            context.inputs[*region_.time_vector].as<const float>() + n * layout_.outputs;
        for (std::int64_t c = 0; c < layout_.outputs; ++c) {
          row[c] += time[c];
        }
      }
    }
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

  // Tiles of a block that lie in one row are transformed together.
  void transform(const Task& task, const Source& source, const Block& block) const {
    const std::int64_t end = block.first + block.tiles;
    for (std::int64_t tile = block.first; tile < end;) {
      const TilePosition at = grid_.position(tile);
      const std::int64_t count = std::min({end - tile, grid_.tiles_along(2) - at.x, kStagedTiles});
      float* v = task.memory + source.first_channel + (tile - block.first) * layout_.channels();
      if (source.upsample) {
        transform_doubled(task, source, at, count, v);
      } else if (source.coefficients || source.channels % stages_.lanes != 0) {
        transform_staged(task, source, at, count, v);
      } else {
        transform_row(task, source, at, count, v);
      }
      tile += count;
    }
  }

  // Inner tiles straight from the source; those that reach over its border by way of a staged copy.
  void transform_row(const Task& task, const Source& source, const TilePosition& row,
                     std::int64_t count, float* v) const {
    if (!grid_.has_inner(row.z, row.y)) {
      transform_staged(task, source, row, count, v);
      return;
    }
    for (std::int64_t i = 0; i < count; ++i, v += layout_.channels()) {
      const TilePosition at{row.z, row.y, row.x + i};
      if (!grid_.is_inner(at)) {
        transform_staged(task, source, at, 1, v);
        continue;
      }
      const std::int64_t stride_y = source.extents[2] * source.channels;
      const std::int64_t stride_z = source.extents[1] * stride_y;
      const auto corner = grid_.first_input(at);
      WinogradInput in{};
      in.origin = task.source(source) + corner.z * stride_z + corner.y * stride_y +
                  corner.x * source.channels;
      in.stride_z = stride_z;
      in.stride_y = stride_y;
      in.stride_x = source.channels;
      in.vectors = source.channels / stages_.lanes;
      in.vector_stride = stages_.lanes;
      // Two of the next tile's columns are this one's last.
      in.prefetch = grid_.is_inner({at.z, at.y, at.x + 1})
                        ? in.origin + grid_.inputs() * source.channels
                        : nullptr;
      in.out = v;
      in.position_stride = v_stride_;
      stages_.transform[form_](in);
    }
  }

  void transform_staged(const Task& task, const Source& source, const TilePosition& row,
                        std::int64_t count, float* v) const {
    const auto corner = grid_.first_input(row);
    const std::int64_t width = grid_.outputs() * (count - 1) + grid_.inputs();
    WinogradStage box = box_at(source, {corner.z, corner.y, corner.x}, grid_.inputs(), width);
    WinogradInput in = staged_input(task, grid_.inputs(), width);
    for_each_vector(task, source, box, [&](std::int64_t channel) {
      in.out = v + channel;
      for (std::int64_t i = 0; i < count; ++i) {
        stages_.transform[form_](in);
        in.origin += grid_.outputs() * stages_.lanes;
        in.out += layout_.channels();
      }
      in.origin = staged(task);
    });
  }

  void transform_doubled(const Task& task, const Source& source, const TilePosition& row,
                         std::int64_t count, float* v) const {
    const auto corner = grid_.first_coarse_input(row);
    const std::int64_t step = grid_.outputs() / 2;
    const std::int64_t width = step * (count - 1) + grid_.coarse_inputs();
    WinogradStage box = box_at(source, corner, grid_.coarse_inputs(), width);
    box.clamp = true;
    WinogradInput in = staged_input(task, grid_.coarse_inputs(), width);
    in.lift[0] = grid_.lift(0, row.z);
    in.lift[1] = grid_.lift(1, row.y);
    for_each_vector(task, source, box, [&](std::int64_t channel) {
      in.out = v + channel;
      for (std::int64_t i = 0; i < count; ++i) {
        in.lift[2] = grid_.lift(2, row.x + i);
        stages_.transform_doubled[form_](in);
        in.origin += step * stages_.lanes;
        in.out += layout_.channels();
      }
      in.origin = staged(task);
    });
  }

  static WinogradStage box_at(const Source& source, const TilePosition& corner, std::int64_t side,
                              std::int64_t width) {
    WinogradStage box{};
    box.depth = source.extents[0];
    box.height = source.extents[1];
    box.width = source.extents[2];
    box.channels = source.channels;
    box.z = corner.z;
    box.y = corner.y;
    box.x = corner.x;
    box.box_depth = side;
    box.box_height = side;
    box.box_width = width;
    return box;
  }

  WinogradInput staged_input(const Task& task, std::int64_t side, std::int64_t width) const {
    WinogradInput in{};
    in.origin = staged(task);
    in.stride_x = stages_.lanes;
    in.stride_y = width * stages_.lanes;
    in.stride_z = side * in.stride_y;
    in.vectors = 1;
    in.position_stride = v_stride_;
    return in;
  }

  float* staged(const Task& task) const { return task.memory + v_floats() + m_floats(); }

  // Stages the box vector by vector of channels and calls use(first channel) after each.
  template <typename Use>
  void for_each_vector(const Task& task, const Source& source, WinogradStage& box,
                       const Use& use) const {
    float* scale = staged(task) + staged_floats();
    float* shift = scale + stages_.lanes;
    for (std::int64_t c = 0; c < source.channels; c += stages_.lanes) {
      box.source = task.source(source) + c;
      box.lanes = std::min(stages_.lanes, source.channels - c);
      if (source.coefficients) {
        const float* pairs =
            context_coefficients(task, source) + 2 * (source.coefficient_offset + c);
        for (std::int64_t i = 0; i < stages_.lanes; ++i) {
          scale[i] = i < box.lanes ? pairs[2 * i] : 0.0F;
          shift[i] = i < box.lanes ? pairs[2 * i + 1] : 0.0F;
        }
        box.scale = scale;
        box.shift = shift;
        box.silu = source.silu;
      }
      stages_.stage(box, staged(task));
      use(c);
    }
  }

  static const float* context_coefficients(const Task& task, const Source& source) {
    return task.context.inputs[*source.coefficients].as<const float>() +
           2 * task.sample * source.coefficient_channels;
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
