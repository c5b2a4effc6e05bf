#include <oneapi/dnnl/dnnl.hpp>

#include <algorithm>
#include <cstring>
#include <optional>
#include <unordered_map>

#include "backend/cpu/onednn/conv_problem.h"
#include "backend/cpu/onednn/onednn_ops.h"
#include "base/aligned_buffer.h"
#include "base/check.h"
#include "base/error.h"

namespace mezzotint {
namespace {

using dnnl::convolution_forward;
using dnnl::memory;

// Fewer input channels than this fill no vector; several such sources are better concatenated.
constexpr std::int64_t kLeastSourceChannels = 16;

std::size_t aligned(std::size_t bytes) {
  return (bytes + AlignedBuffer::kAlignment - 1) / AlignedBuffer::kAlignment *
         AlignedBuffer::kAlignment;
}

// One source of one slab form.
struct Piece {
  convolution_forward primitive;
  memory::desc src;
  memory::desc dst;
  memory::desc scratchpad;
  std::size_t weights;  // index into the packed ones
};

// Slab forms may want the same weights in different layouts: then there are several copies.
struct PackedWeights {
  std::size_t source;
  memory::desc desc;
  std::size_t offset;
};

class ConvKernel final : public Kernel {
 public:
  // Throws dnnl::error.
  ConvKernel(const OpView& view, ConvProblem problem, int threads)
      : problem_(std::move(problem)), engine_(dnnl::engine::kind::cpu, 0) {
    weight_name_ = view.input(problem_.region.weight).name;
    if (problem_.region.bias) {
      bias_name_ = view.input(*problem_.region.bias).name;
    }
    for (const ConvSlab& form : problem_.forms) {
      std::vector<Piece>& pieces = pieces_of_form_.emplace_back();
      for (std::size_t s = 0; s < problem_.region.sources.size(); ++s) {
        pieces.push_back(make_piece(form, s));
      }
    }
    bias_offset_ = packed_bytes_;
    packed_bytes_ += problem_.region.bias ? aligned(problem_.dst[1] * sizeof(float)) : 0;

    const std::int64_t tasks = problem_.samples * static_cast<std::int64_t>(problem_.slabs.size());
    slots_ = std::min<std::int64_t>(std::max(threads, 1), tasks);
  }

  std::size_t workspace_bytes() const override {
    return combined_bias_bytes() + static_cast<std::size_t>(slots_) * scratchpad_bytes_;
  }
  std::size_t packed_bytes() const override { return packed_bytes_; }
  std::size_t load_bytes() const override {
    return static_cast<std::size_t>(problem_.weight.elements()) * sizeof(float);
  }
  AliasableInputs aliasable_inputs() const override {
    return problem_.region.residual ? AliasableInputs{*problem_.region.residual}
                                    : AliasableInputs{};
  }

  Status load(ParameterSource& source) override {
    auto packed = AlignedBuffer::allocate(packed_bytes_);
    if (!packed) {
      return packed.error();
    }
    packed_ = std::move(*packed);
    auto plain = AlignedBuffer::allocate(load_bytes());
    if (!plain) {
      return plain.error();
    }
    if (Status status = source.read(weight_name_, plain->as<float>()); !status) {
      return status;
    }
    if (problem_.region.bias) {
      const std::span<float> bias(packed_bias(), static_cast<std::size_t>(problem_.dst[1]));
      if (Status status = source.read(bias_name_, bias); !status) {
        return status;
      }
    }
    try {
      pack(plain->as<float>().data());
    } catch (const dnnl::error& error) {
      return resource_error("oneDNN could not pack {}: {}", weight_name_, error.what());
    }
    return {};
  }

  void launch(const LaunchContext& context) const override {
    const float* bias = combine_bias(context);
    const auto slab_count = static_cast<std::int64_t>(problem_.slabs.size());
    const std::int64_t tasks = problem_.samples * slab_count;
    // Without an OpenMP region around it, the library would open its own.
    std::optional<ComputeScope> alone;
    if (slots_ == 1) {
      alone.emplace(ThreadTeam(1));
    }
    context.team.parallel_for_slots(tasks, slots_, [&](std::int64_t task, std::int64_t slot) {
      const std::int64_t sample = task / slab_count;
      const float* sample_bias =
          problem_.region.time_vector ? bias + sample * problem_.dst[1] : bias;
      run_slab(context, sample, static_cast<std::size_t>(task % slab_count), sample_bias,
               context.workspace + combined_bias_bytes() +
                   static_cast<std::size_t>(slot) * scratchpad_bytes_);
    });
  }

 private:
  Piece make_piece(const ConvSlab& form, std::size_t source) {
    const auto desc = describe_conv_primitive(problem_, form, source, engine_);
    const auto same = std::find_if(weights_.begin(), weights_.end(), [&](const auto& packed) {
      return packed.source == source && packed.desc == desc.weights_desc();
    });
    const auto index = static_cast<std::size_t>(same - weights_.begin());
    if (same == weights_.end()) {
      weights_.push_back({source, desc.weights_desc(), packed_bytes_});
      packed_bytes_ += aligned(desc.weights_desc().get_size());
    }
    scratchpad_bytes_ = std::max(scratchpad_bytes_, aligned(desc.scratchpad_desc().get_size()));
    return {convolution_forward(desc), desc.src_desc(), desc.dst_desc(), desc.scratchpad_desc(),
            index};
  }

  std::size_t combined_bias_bytes() const {
    return problem_.region.time_vector
               ? aligned(static_cast<std::size_t>(problem_.samples * problem_.dst[1]) *
                         sizeof(float))
               : 0;
  }

  float* packed_bias() const { return reinterpret_cast<float*>(packed_.data() + bias_offset_); }

  // Throws dnnl::error.
  void pack(float* plain) const {
    dnnl::stream stream(engine_);
    const Shape& weight = problem_.weight;
    const std::int64_t taps = weight[2] * weight[3] * weight[4];
    for (const PackedWeights& packed : weights_) {
      std::int64_t first_channel = 0;
      for (std::size_t s = 0; s < packed.source; ++s) {
        first_channel += problem_.region.sources[s].channels;
      }
      const memory::desc part(
          conv_weight_dims(problem_, packed.source), memory::data_type::f32,
          memory::dims{weight[1] * taps, taps, weight[3] * weight[4], weight[4], 1});
      memory from(part, engine_, plain + first_channel * taps);
      memory to(packed.desc, engine_, packed_.data() + packed.offset);
      dnnl::reorder(from, to).execute(stream, from, to);
      stream.wait();
    }
  }

  // [N, Cout] of bias + time vector, or [Cout] of the bias alone, or null.
  const float* combine_bias(const LaunchContext& context) const {
    const float* bias = problem_.region.bias ? packed_bias() : nullptr;
    if (!problem_.region.time_vector) {
      return bias;
    }
    const auto* time = context.inputs[*problem_.region.time_vector].as<const float>();
    auto* combined = reinterpret_cast<float*>(context.workspace);
    const std::int64_t channels = problem_.dst[1];
    for (std::int64_t i = 0; i < problem_.samples * channels; ++i) {
      combined[i] = time[i] + (bias != nullptr ? bias[i % channels] : 0.0f);
    }
    return combined;
  }

  void run_slab(const LaunchContext& context, std::int64_t sample, std::size_t index,
                const float* bias, std::byte* scratchpad) const {
    const ConvSlab& slab = problem_.slabs[index];
    const std::vector<Piece>& pieces = pieces_of_form_[problem_.form_of_slab[index]];
    const Shape& src = problem_.src;
    const Shape& dst = problem_.dst;
    const std::int64_t dst_plane = dst[3] * dst[4] * dst[1];
    const std::int64_t dst_offset = (sample * dst[2] + slab.dst_begin) * dst_plane;
    float* out = context.outputs[0].as<float>() + dst_offset;
    if (problem_.region.residual) {
      const float* residual =
          context.inputs[*problem_.region.residual].as<const float>() + dst_offset;
      if (residual != out) {
        std::memcpy(out, residual,
                    static_cast<std::size_t>(slab.dst_depth * dst_plane) * sizeof(float));
      }
    }
    try {
      dnnl::stream stream(engine_);
      for (std::size_t s = 0; s < pieces.size(); ++s) {
        const Piece& piece = pieces[s];
        const ConvSource& source = problem_.region.sources[s];
        const PackedWeights& weights = weights_[piece.weights];
        auto* in = context.inputs[source.input].as<float>() +
                   (sample * src[2] + slab.src_begin) * src[3] * src[4] * source.channels;
        std::unordered_map<int, memory> arguments{
            {DNNL_ARG_SRC, memory(piece.src, engine_, in)},
            {DNNL_ARG_WEIGHTS, memory(weights.desc, engine_, packed_.data() + weights.offset)},
            {DNNL_ARG_DST, memory(piece.dst, engine_, out)},
            {DNNL_ARG_SCRATCHPAD, memory(piece.scratchpad, engine_, scratchpad)}};
        if (s == 0 && bias != nullptr) {
          const memory::desc desc({dst[1]}, memory::data_type::f32, memory::format_tag::a);
          arguments.emplace(DNNL_ARG_BIAS, memory(desc, engine_, const_cast<float*>(bias)));
        }
        piece.primitive.execute(stream, arguments);
      }
      stream.wait();
    } catch (const std::exception&) {
      check(false, "oneDNN failed to run a convolution that it had accepted");
    }
  }

  ConvProblem problem_;
  dnnl::engine engine_;
  std::string weight_name_;
  std::string bias_name_;
  std::vector<PackedWeights> weights_;
  std::vector<std::vector<Piece>> pieces_of_form_;
  std::size_t packed_bytes_ = 0;
  std::size_t bias_offset_ = 0;
  std::size_t scratchpad_bytes_ = 0;
  std::int64_t slots_ = 1;
  AlignedBuffer packed_;
};

std::optional<std::string> refuse_type(const Value& value, std::string_view what) {
  if (value.type.dtype != DType::kF32) {
    return fmt::format("{} must be float32, is {}", what, name_of(value.type.dtype));
  }
  if (value.type.layout != Layout::kChannelsLast) {
    return fmt::format("{} must be channels_last, is {}", what, name_of(value.type.layout));
  }
  return std::nullopt;
}

std::optional<std::string> refuse_region(const OpView& view, const ConvRegion& region) {
  for (const ConvSource& source : region.sources) {
    if (auto reason = refuse_type(view.input(source.input), "a source")) {
      return reason;
    }
    if (source.coefficients) {
      return "oneDNN cannot apply scale, shift and SiLU while loading";
    }
    if (region.sources.size() > 1 && source.channels < kLeastSourceChannels) {
      return fmt::format(
          "a source has {} channels; several sources are worth a call each from {} channels on",
          source.channels, kLeastSourceChannels);
    }
  }
  if (region.moments) {
    return "oneDNN cannot give channel moments of its result";
  }
  if (auto reason = refuse_type(view.output(), "the result")) {
    return reason;
  }
  if (view.input(region.weight).kind != ValueKind::kParameter) {
    return "weights must be a parameter, to be packed once";
  }
  if (region.bias && view.input(*region.bias).kind != ValueKind::kParameter) {
    return "the bias must be a parameter";
  }
  return std::nullopt;
}

class OnednnConv final : public Implementation {
 public:
  std::string_view name() const override { return "onednn.conv"; }

  std::optional<std::string> refusal(const OpView& view, const Machine&) const override {
    const auto region = describe_conv(view);
    if (!region) {
      return "the region is not one convolution with a known epilogue";
    }
    if (auto reason = refuse_region(view, *region)) {
      return reason;
    }
    const ComputeScope one_thread{ThreadTeam(1)};
    try {
      const ConvProblem problem = make_conv_problem(view, *region);
      const dnnl::engine engine(dnnl::engine::kind::cpu, 0);
      for (const ConvSlab& form : problem.forms) {
        for (std::size_t s = 0; s < region->sources.size(); ++s) {
          const std::string implementation =
              describe_conv_primitive(problem, form, s, engine).impl_info_str();
          if (implementation.starts_with("ref")) {
            return fmt::format("oneDNN has only its slow reference ({}) for this", implementation);
          }
        }
      }
    } catch (const dnnl::error& error) {
      return fmt::format("oneDNN refuses: {}", error.what());
    }
    return std::nullopt;
  }

  // One thread while the primitives are made: see conv_slabs.h.
  Result<std::unique_ptr<Kernel>> prepare(const OpView& view,
                                          const Machine& machine) const override {
    const ComputeScope one_thread{ThreadTeam(1)};
    try {
      const auto region = describe_conv(view);
      check(region.has_value(), "onednn.conv prepared what it refuses");
      return std::unique_ptr<Kernel>(
          std::make_unique<ConvKernel>(view, make_conv_problem(view, *region), machine.threads));
    } catch (const dnnl::error& error) {
      return unsupported("{}: oneDNN refuses: {}", view.op.name, error.what());
    }
  }
};

}  // namespace

std::unique_ptr<Implementation> make_onednn_conv() {
  return std::make_unique<OnednnConv>();
}

}  // namespace mezzotint
