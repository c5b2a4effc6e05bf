#include <oneapi/dnnl/dnnl.hpp>

#include <algorithm>
#include <cstring>
#include <optional>

#include "backend/cpu/onednn/conv_primitive.h"
#include "backend/cpu/onednn/conv_schedule.h"
#include "backend/cpu/onednn/onednn_ops.h"
#include "base/aligned_buffer.h"
#include "base/check.h"
#include "base/error.h"
#include "base/rounding.h"

namespace mezzotint {
namespace {

using dnnl::convolution_forward;
using dnnl::memory;

// Fewer input channels than this fill no vector; several such sources are better concatenated.
constexpr std::int64_t kLeastSourceChannels = 16;
// Fewer output channels leave vector lanes empty, at a rate per useful operation of their own.
constexpr std::int64_t kWideOutputs = 16;
// How much longer an operation takes with fewer input channels than fill a vector than with many:
// measured 1.2 for 8 of them, 1.5 for 3.
constexpr double kFewInputsSlowdown = 1.3;

// A part of a source in float32, rounded into a block of the worker's own.
struct Gather {
  dnnl::reorder primitive;
  memory::desc from;
  memory::desc scratchpad;
};

struct Form {
  convolution_forward primitive;
  std::optional<Gather> gather;
  memory::desc src;
  memory::desc dst;
  memory::desc scratchpad;
  std::vector<std::size_t> weights;  // per tap group: index into the packed ones
};

// Forms may want the same weights in different layouts: then there are several copies.
struct PackedWeights {
  std::size_t source;
  std::size_t group;
  memory::desc desc;
  std::size_t offset;
};

class ConvKernel final : public Kernel {
 public:
  // Throws dnnl::error.
  ConvKernel(const OpView& view, ConvSchedule schedule, int threads)
      : schedule_(std::move(schedule)),
        region_(schedule_.region),
        engine_(dnnl::engine::kind::cpu, 0),
        weight_name_(view.input(region_.weight).name),
        bias_name_(region_.bias ? view.input(*region_.bias).name : "") {
    for (std::size_t form = 0; form < schedule_.forms.size(); ++form) {
      forms_.push_back(make_form(form));
    }
    bias_offset_ = packed_bytes_;
    packed_bytes_ += region_.bias ? align_up(channels() * sizeof(float)) : 0;
    const std::int64_t tasks = schedule_.samples * static_cast<std::int64_t>(task_count());
    slots_ = std::min<std::int64_t>(std::max(threads, 1), tasks);
  }

  std::size_t workspace_bytes() const override {
    return constants_bytes() + static_cast<std::size_t>(slots_) * slot_bytes();
  }
  std::size_t packed_bytes() const override { return packed_bytes_; }
  std::size_t load_bytes() const override {
    return static_cast<std::size_t>(schedule_.weight.elements()) * sizeof(float);
  }
  AliasableInputs aliasable_inputs() const override { return in_place_inputs(region_); }
  // Primitives: each call's convolution, and the conversion of what it reads.
  double kernels() const override {
    std::int64_t primitives = 0;
    for (std::size_t form = 0; form < forms_.size(); ++form) {
      primitives += schedule_.forms[form].calls * (forms_[form].gather ? 2 : 1);
    }
    return static_cast<double>(primitives) * static_cast<double>(schedule_.samples);
  }

  Status load(ParameterSource& source) override {
    auto packed = AlignedBuffer::allocate(packed_bytes_);
    auto plain = AlignedBuffer::allocate(load_bytes());
    if (!packed || !plain) {
      return packed ? plain.error() : packed.error();
    }
    packed_ = std::move(*packed);
    if (Status status = source.read(weight_name_, plain->as<float>()); !status) {
      return status;
    }
    if (region_.bias) {
      if (Status status = source.read(bias_name_, {packed_bias(), channels()}); !status) {
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
    const auto tasks = static_cast<std::int64_t>(task_count());
    // Without an OpenMP region around it, the library would open its own.
    std::optional<ComputeScope> alone;
    if (slots_ == 1) {
      alone.emplace(ThreadTeam(1));
    }
    const float* constants = add_constants(context);
    std::byte* slots = context.workspace + constants_bytes();
    context.team.parallel_for_slots(
        schedule_.samples * tasks, slots_, [&](std::int64_t i, std::int64_t slot) {
          run_task(context, constants, i / tasks,
                   schedule_.tasks[static_cast<std::size_t>(i % tasks)],
                   slots + static_cast<std::size_t>(slot) * slot_bytes());
        });
  }

 private:
  std::size_t channels() const { return static_cast<std::size_t>(schedule_.dst[1]); }
  std::size_t task_count() const { return schedule_.tasks.size(); }
  // What a worker needs: a gathered source, then scratch memory of the library.
  std::size_t slot_bytes() const { return gathered_bytes_ + scratchpad_bytes_; }
  float* packed_bias() const { return reinterpret_cast<float*>(packed_.data() + bias_offset_); }

  Form make_form(std::size_t index) {
    const CallForm& spec = schedule_.forms[index];
    const auto desc = describe_conv_call(schedule_, spec, engine_);
    add_scratchpad(desc.scratchpad_desc());
    Form form{convolution_forward(desc), std::nullopt,
              desc.src_desc(),           desc.dst_desc(),
              desc.scratchpad_desc(),    std::vector<std::size_t>(schedule_.groups.size())};
    if (schedule_.operands != DType::kF32) {
      const auto gather = describe_gather(schedule_, spec, engine_);
      add_scratchpad(gather.scratchpad_desc());
      gathered_bytes_ = std::max(gathered_bytes_, align_up(desc.src_desc().get_size()));
      form.gather.emplace(
          Gather{dnnl::reorder(gather), gather.src_desc(), gather.scratchpad_desc()});
    }
    for (const ConvCall& call : schedule_.calls) {
      if (call.form == index) {
        form.weights[call.group] =
            find_or_add_weights(spec.source, call.group, desc.weights_desc());
      }
    }
    return form;
  }

  void add_scratchpad(const memory::desc& desc) {
    scratchpad_bytes_ = std::max(scratchpad_bytes_, align_up(desc.get_size()));
  }

  std::size_t find_or_add_weights(std::size_t source, std::size_t group, const memory::desc& desc) {
    const auto known = std::find_if(weights_.begin(), weights_.end(), [&](const auto& packed) {
      return packed.source == source && packed.group == group && packed.desc == desc;
    });
    const auto index = static_cast<std::size_t>(known - weights_.begin());
    if (known == weights_.end()) {
      weights_.push_back({source, group, desc, packed_bytes_});
      packed_bytes_ += align_up(desc.get_size());
    }
    return index;
  }

  // Throws dnnl::error.
  void pack(float* plain) const {
    const ComputeScope one_thread{ThreadTeam(1)};
    dnnl::stream stream(engine_);
    for (const PackedWeights& packed : weights_) {
      const WeightPart part = weight_part(schedule_, packed.source, schedule_.groups[packed.group]);
      memory from(part.desc, engine_, plain + part.offset);
      memory to(packed.desc, engine_, packed_.data() + packed.offset);
      dnnl::reorder(from, to).execute(stream, from, to);
      stream.wait();
    }
  }

  std::size_t constants_bytes() const {
    return align_up(static_cast<std::size_t>(schedule_.samples) * channels() * sizeof(float));
  }

  // [N, Cout] of bias + time vector.
  const float* add_constants(const LaunchContext& context) const {
    auto* constants = reinterpret_cast<float*>(context.workspace);
    const std::size_t count = channels();
    for (std::size_t i = 0; i < static_cast<std::size_t>(schedule_.samples) * count; ++i) {
      constants[i] = region_.bias ? packed_bias()[i % count] : 0.0F;
      if (region_.time_vector) {
        constants[i] += context.inputs[*region_.time_vector].as<const float>()[i];
      }
    }
    return constants;
  }

  // What the calls add to: the constants and the residual, if any, which may be `out` itself.
  void begin_block(const float* constants, const float* residual, std::int64_t elements,
                   float* out) const {
    const auto count = static_cast<std::int64_t>(channels());
    for (std::int64_t row = 0; row < elements; row += count) {
      if (residual == nullptr) {
        std::memcpy(out + row, constants, channels() * sizeof(float));
        continue;
      }
#pragma omp simd
      for (std::int64_t c = 0; c < count; ++c) {
        out[row + c] = residual[row + c] + constants[c];
      }
    }
  }

  void run_task(const LaunchContext& context, const float* constants, std::int64_t sample,
                const ConvTask& task, std::byte* slot) const {
    const Shape& src = schedule_.src;
    const std::int64_t dst_sample = sample * (schedule_.dst.elements() / schedule_.samples);
    float* out = context.outputs[0].as<float>() + dst_sample;
    const float* residual = nullptr;
    if (region_.residual) {
      residual = context.inputs[*region_.residual].as<const float>() + dst_sample + task.dst_offset;
    }
    begin_block(constants + sample * schedule_.dst[1], residual, task.dst_elements,
                out + task.dst_offset);
    try {
      dnnl::stream stream(engine_);
      std::byte* scratchpad = slot + gathered_bytes_;
      for (std::size_t i = 0; i < task.call_count; ++i) {
        const ConvCall& call = schedule_.calls[task.first_call + i];
        const Form& form = forms_[call.form];
        const PackedWeights& weights = weights_[form.weights[call.group]];
        const ConvSource& source = region_.sources[schedule_.forms[call.form].source];
        void* in = context.inputs[source.input].as<float>() +
                   sample * source.channels * src[2] * src[3] * src[4] + call.src_offset;
        if (form.gather) {
          form.gather->primitive.execute(
              stream,
              {{DNNL_ARG_FROM, memory(form.gather->from, engine_, in)},
               {DNNL_ARG_TO, memory(form.src, engine_, slot)},
               {DNNL_ARG_SCRATCHPAD, memory(form.gather->scratchpad, engine_, scratchpad)}});
          in = slot;
        }
        form.primitive.execute(
            stream,
            {{DNNL_ARG_SRC, memory(form.src, engine_, in)},
             {DNNL_ARG_WEIGHTS, memory(weights.desc, engine_, packed_.data() + weights.offset)},
             {DNNL_ARG_DST, memory(form.dst, engine_, out + call.dst_offset)},
             {DNNL_ARG_SCRATCHPAD, memory(form.scratchpad, engine_, scratchpad)}});
      }
      stream.wait();
    } catch (const std::exception&) {
      check(false, "oneDNN failed to run a convolution that it had accepted");
    }
  }

  ConvSchedule schedule_;
  const ConvRegion& region_;
  dnnl::engine engine_;
  std::string weight_name_;
  std::string bias_name_;
  std::vector<PackedWeights> weights_;
  std::vector<Form> forms_;
  std::size_t packed_bytes_ = 0;
  std::size_t bias_offset_ = 0;
  std::size_t gathered_bytes_ = 0;
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
    if (source.upsample) {
      return "oneDNN cannot interpolate while loading";
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
  if (region.residual) {
    if (auto reason = refuse_type(view.input(*region.residual), "the residual")) {
      return reason;
    }
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

std::optional<std::string> refuse_bf16(const Target& target) {
  if (target.precision != Precision::kFast) {
    return fmt::format("bfloat16 operands round more than {} allows; they are for fast",
                       name_of(target.precision));
  }
  if (!bf16_unit(target.machine)) {
    return "no bf16 unit on this machine";
  }
  const dnnl::cpu_isa isa = dnnl::get_effective_cpu_isa();
  if (isa != dnnl::cpu_isa::avx512_core_bf16 && isa != dnnl::cpu_isa::avx512_core_amx) {
    return fmt::format("{} uses no bf16 unit", describe_onednn());
  }
  return std::nullopt;
}

// Bytes of converted blocks: read as float32, written as bfloat16. Neighbouring blocks of a 3x3x3
// convolution share planes, which are converted for each.
double gather_bytes(const ConvSchedule& schedule) {
  double elements = 0;
  for (const CallForm& form : schedule.forms) {
    elements += static_cast<double>(form.calls * schedule.source_elements(form));
  }
  return elements * static_cast<double>(schedule.samples) *
         static_cast<double>(sizeof(float) + size_of(DType::kBF16));
}

class OnednnConv final : public Implementation {
 public:
  OnednnConv(std::string_view name, DType operands, bool narrow)
      : name_(name), operands_(operands), narrow_(narrow) {}

  std::string_view name() const override { return name_; }

  std::optional<std::string> refusal(const OpView& view, const Target& target) const override {
    if (operands_ == DType::kBF16) {
      if (auto reason = refuse_bf16(target)) {
        return reason;
      }
    }
    const auto region = describe_conv(view);
    if (!region) {
      return "the region is not one convolution with a known epilogue";
    }
    if (auto reason = refuse_region(view, *region)) {
      return reason;
    }
    const std::int64_t outputs = view.input(region->weight).type.shape[0];
    if (narrow_ != (outputs < kWideOutputs)) {
      return fmt::format("made for {} {} output channels, has {}",
                         narrow_ ? "fewer than" : "at least", kWideOutputs, outputs);
    }
    const ComputeScope one_thread{ThreadTeam(1)};
    try {
      const ConvSchedule schedule = conv_forms(view, *region, operands_);
      const dnnl::engine engine(dnnl::engine::kind::cpu, 0);
      for (const CallForm& form : schedule.forms) {
        const std::string implementation =
            describe_conv_call(schedule, form, engine).impl_info_str();
        if (implementation.starts_with("ref")) {
          return fmt::format("oneDNN has only its slow reference ({}) for this", implementation);
        }
      }
    } catch (const dnnl::error& error) {
      return fmt::format("oneDNN refuses: {}", error.what());
    }
    return std::nullopt;
  }

  Work work(const OpView& view, const Target& target) const override {
    const auto region = describe_conv(view);
    check(region.has_value(), "onednn.conv asked about what it refuses");
    const Shape& weight = view.input(region->weight).type.shape;
    const bool few = weight[1] < kLeastSourceChannels;
    Work work = Implementation::work(view, target);
    work.priced_flops *= few ? kFewInputsSlowdown : 1.0;
    if (operands_ == DType::kBF16) {
      work.unit = *bf16_unit(target.machine);
      const auto saved = static_cast<double>(weight.elements()) *
                         static_cast<double>(sizeof(float) - size_of(DType::kBF16));
      work.packed_bytes -= saved;
      work.bytes -= saved;
      for (const ConvSource& source : region->sources) {
        work.bytes -= static_cast<double>(view.input(source.input).type.bytes());
      }
      work.bytes += gather_bytes(conv_forms(view, *region, operands_));
    }
    return work;
  }

  double error_growth(const OpView& view) const override {
    if (operands_ == DType::kF32) {
      return 1;
    }
    const Shape& weight = view.input(describe_conv(view)->weight).type.shape;
    const std::int64_t terms = weight.elements() / weight[0];
    return operand_error_growth(static_cast<double>(terms), kBf16Roundoff);
  }

  // One thread while the primitives are made: see conv_schedule.h.
  Result<std::unique_ptr<Kernel>> prepare(const OpView& view, const Target& target) const override {
    const ComputeScope one_thread{ThreadTeam(1)};
    try {
      const auto region = describe_conv(view);
      check(region.has_value(), "onednn.conv prepared what it refuses");
      return std::unique_ptr<Kernel>(std::make_unique<ConvKernel>(
          view, schedule_conv(view, *region, operands_), target.machine.threads));
    } catch (const dnnl::error& error) {
      return unsupported("{}: oneDNN refuses: {}", view.op.name, error.what());
    }
  }

 private:
  std::string_view name_;
  DType operands_;
  bool narrow_;
};

}  // namespace

std::unique_ptr<Implementation> make_onednn_conv() {
  return std::make_unique<OnednnConv>("onednn.conv", DType::kF32, false);
}

std::unique_ptr<Implementation> make_onednn_conv_bf16() {
  return std::make_unique<OnednnConv>("onednn.conv_bf16", DType::kBF16, false);
}

std::unique_ptr<Implementation> make_onednn_conv_narrow() {
  return std::make_unique<OnednnConv>("onednn.conv_narrow", DType::kF32, true);
}

}  // namespace mezzotint
