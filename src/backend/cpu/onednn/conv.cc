#include <oneapi/dnnl/dnnl.hpp>

#include <algorithm>
#include <cstring>
#include <optional>
#include <unordered_map>

#include "backend/cpu/onednn/conv_slabs.h"
#include "backend/cpu/onednn/onednn_ops.h"
#include "base/aligned_buffer.h"
#include "base/check.h"
#include "base/error.h"
#include "graph/conv_region.h"

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

// What the primitives are made from. Shapes are one sample's.
struct Problem {
  ConvRegion region;
  std::int64_t samples = 1;
  Shape src;  // of the first source; others differ in channels only
  Shape dst;
  Shape weight;
  std::vector<ConvSlab> slabs;

  [[nodiscard]] bool has_bias() const { return region.bias || region.time_vector; }
};

Problem problem_of(const OpView& view, const ConvRegion& region) {
  Problem problem;
  problem.region = region;
  problem.src = view.input(region.sources[0].input).type.shape;
  problem.dst = view.output().type.shape;
  problem.weight = view.input(region.weight).type.shape;
  problem.samples = problem.dst[0];
  problem.slabs =
      split_depth(problem.src[2], problem.dst[2], problem.weight[2], region.stride, region.padding);
  return problem;
}

// `weights` of kind any lets the library choose; slabs after the first repeat that choice.
convolution_forward::primitive_desc describe(const Problem& problem, const ConvSlab& slab,
                                             std::size_t source, const memory::desc& weights,
                                             const dnnl::engine& engine) {
  const Shape& src = problem.src;
  const Shape& dst = problem.dst;
  const ConvRegion& region = problem.region;
  constexpr auto kF32 = memory::data_type::f32;
  constexpr auto kChannelsLastTag = memory::format_tag::ndhwc;
  const memory::desc src_desc({1, region.sources[source].channels, slab.src_depth, src[3], src[4]},
                              kF32, kChannelsLastTag);
  const memory::desc dst_desc({1, dst[1], slab.dst_depth, dst[3], dst[4]}, kF32, kChannelsLastTag);
  const memory::dims strides(3, region.stride);
  const memory::dims front{slab.pad_front, region.padding, region.padding};
  const memory::dims back{slab.pad_back, region.padding, region.padding};

  dnnl::primitive_attr attributes;
  attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  if (source > 0 || region.residual) {
    dnnl::post_ops post_ops;
    post_ops.append_sum();
    attributes.set_post_ops(post_ops);
  }
  constexpr auto kKind = dnnl::prop_kind::forward_inference;
  constexpr auto kAlgorithm = dnnl::algorithm::convolution_direct;
  if (source == 0 && problem.has_bias()) {
    const memory::desc bias({dst[1]}, kF32, memory::format_tag::a);
    return {{kKind, kAlgorithm, src_desc, weights, bias, dst_desc, strides, front, back},
            attributes,
            engine};
  }
  return {
      {kKind, kAlgorithm, src_desc, weights, dst_desc, strides, front, back}, attributes, engine};
}

memory::desc any_weights(const Problem& problem, std::size_t source) {
  const Shape& weight = problem.weight;
  return {{weight[0], problem.region.sources[source].channels, weight[2], weight[3], weight[4]},
          memory::data_type::f32,
          memory::format_tag::any};
}

// One primitive per slab form (first, middle, last) and source.
struct Piece {
  convolution_forward primitive;
  memory::desc src;
  memory::desc dst;
  memory::desc scratchpad;
};

struct SlabForm {
  ConvSlab slab;  // of which only depths and padding matter
  std::vector<Piece> pieces;
};

bool same_form(const ConvSlab& a, const ConvSlab& b) {
  return a.dst_depth == b.dst_depth && a.src_depth == b.src_depth && a.pad_front == b.pad_front &&
         a.pad_back == b.pad_back;
}

class ConvKernel final : public Kernel {
 public:
  // Throws dnnl::error.
  ConvKernel(const OpView& view, Problem problem, int threads)
      : problem_(std::move(problem)), engine_(dnnl::engine::kind::cpu, 0) {
    weight_name_ = view.input(problem_.region.weight).name;
    if (problem_.region.bias) {
      bias_name_ = view.input(*problem_.region.bias).name;
    }
    for (const ConvSlab& slab : problem_.slabs) {
      form_of_slab_.push_back(find_or_add_form(slab));
    }
    for (const memory::desc& desc : weights_) {
      weight_offsets_.push_back(packed_bytes_);
      packed_bytes_ += aligned(desc.get_size());
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
  std::size_t find_or_add_form(const ConvSlab& slab) {
    const auto found = std::find_if(forms_.begin(), forms_.end(), [&](const SlabForm& form) {
      return same_form(form.slab, slab);
    });
    if (found != forms_.end()) {
      return static_cast<std::size_t>(found - forms_.begin());
    }
    SlabForm form{slab, {}};
    for (std::size_t s = 0; s < problem_.region.sources.size(); ++s) {
      const bool first = weights_.size() == s;
      const auto desc =
          describe(problem_, slab, s, first ? any_weights(problem_, s) : weights_[s], engine_);
      if (first) {
        weights_.push_back(desc.weights_desc());
      }
      form.pieces.push_back(
          {convolution_forward(desc), desc.src_desc(), desc.dst_desc(), desc.scratchpad_desc()});
      scratchpad_bytes_ = std::max(scratchpad_bytes_, aligned(desc.scratchpad_desc().get_size()));
    }
    forms_.push_back(std::move(form));
    return forms_.size() - 1;
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
    std::int64_t first_channel = 0;
    for (std::size_t s = 0; s < weights_.size(); ++s) {
      const memory::desc part(
          {weight[0], problem_.region.sources[s].channels, weight[2], weight[3], weight[4]},
          memory::data_type::f32,
          memory::dims{weight[1] * taps, taps, weight[3] * weight[4], weight[4], 1});
      memory from(part, engine_, plain + first_channel * taps);
      memory to(weights_[s], engine_, packed_.data() + weight_offsets_[s]);
      dnnl::reorder(from, to).execute(stream, from, to);
      stream.wait();
      first_channel += problem_.region.sources[s].channels;
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
    const SlabForm& form = forms_[form_of_slab_[index]];
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
      for (std::size_t s = 0; s < form.pieces.size(); ++s) {
        const Piece& piece = form.pieces[s];
        const ConvSource& source = problem_.region.sources[s];
        auto* in = context.inputs[source.input].as<float>() +
                   (sample * src[2] + slab.src_begin) * src[3] * src[4] * source.channels;
        std::unordered_map<int, memory> arguments{
            {DNNL_ARG_SRC, memory(piece.src, engine_, in)},
            {DNNL_ARG_WEIGHTS, memory(weights_[s], engine_, packed_.data() + weight_offsets_[s])},
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

  Problem problem_;
  dnnl::engine engine_;
  std::string weight_name_;
  std::string bias_name_;
  std::vector<memory::desc> weights_;  // per source
  std::vector<std::size_t> weight_offsets_;
  std::vector<SlabForm> forms_;
  std::vector<std::size_t> form_of_slab_;
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
      const Problem problem = problem_of(view, *region);
      const dnnl::engine engine(dnnl::engine::kind::cpu, 0);
      for (std::size_t s = 0; s < region->sources.size(); ++s) {
        const auto desc = describe(problem, problem.slabs[0], s, any_weights(problem, s), engine);
        const std::string implementation = desc.impl_info_str();
        if (implementation.starts_with("ref")) {
          return fmt::format("oneDNN has only its slow reference ({}) for this", implementation);
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
          std::make_unique<ConvKernel>(view, problem_of(view, *region), machine.threads));
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
