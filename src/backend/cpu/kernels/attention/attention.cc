#include <algorithm>
#include <cmath>

#include "backend/cpu/kernels/attention/contract.h"
#include "backend/cpu/kernels/implementation.h"
#include "backend/cpu/kernels/kernel_ops.h"

namespace mezzotint::kernels {
namespace {

// Per sample and head: pack keys and values once, then blocks of queries on all workers. No matrix
// of tokens x tokens ever exists.
class AttentionKernel final : public Kernel {
 public:
  AttentionKernel(const OpView& view, const Machine& machine)
      : rows_(rows_of(view.input(0).type.shape)),
        heads_(view.op.attributes.integer("heads", 1)),
        channels_(rows_.channels / (3 * heads_)),
        functions_(for_isa(machine.isa, attention_avx2(), attention_avx512())),
        blocks_(ceil_div(rows_.positions, AttentionKernels::kRows)),
        slots_(std::min<std::int64_t>(std::max(machine.threads, 1), blocks_)) {}

  std::size_t workspace_bytes() const override {
    return static_cast<std::size_t>(key_floats() + value_floats() + slots_ * scratch_floats()) *
           sizeof(float);
  }

  void launch(const LaunchContext& context) const override {
    for (std::int64_t n = 0; n < rows_.samples; ++n) {
      for (std::int64_t head = 0; head < heads_; ++head) {
        const float* qkv = context.inputs[0].as<const float>() + n * rows_.sample_elements() +
                           head * 3 * channels_;
        float* out = context.outputs[0].as<float>() + n * rows_.positions * heads_ * channels_ +
                     head * channels_;
        pack(context, qkv);
        attend(context, qkv, out);
      }
    }
  }

 private:
  std::int64_t key_floats() const {
    return round_up(rows_.positions, functions_.panel) * channels_;
  }
  std::int64_t value_floats() const {
    return rows_.positions * round_up(channels_, functions_.panel);
  }
  std::int64_t scratch_floats() const {
    return round_up(functions_.scratch_floats(rows_.positions, channels_), 16);
  }

  void pack(const LaunchContext& context, const float* qkv) const {
    auto* keys = reinterpret_cast<float*>(context.workspace);
    float* values = keys + key_floats();
    const std::int64_t panel = functions_.panel;
    const std::int64_t tokens = rows_.positions;
    const std::int64_t key_panels = ceil_div(tokens, panel);
    context.team.parallel_for(key_panels + ceil_div(channels_, panel), [&](std::int64_t task) {
      if (task < key_panels) {
        pack_key_panel(qkv + channels_, task * panel, keys + task * panel * channels_);
      } else {
        const std::int64_t first = (task - key_panels) * panel;
        pack_value_panel(qkv + 2 * channels_, first, values + first * tokens);
      }
    });
  }

  void pack_key_panel(const float* keys, std::int64_t first_token, float* out) const {
    const std::int64_t panel = functions_.panel;
    for (std::int64_t j = 0; j < panel; ++j) {
      const std::int64_t token = first_token + j;
      const float* key = keys + token * rows_.channels;
      for (std::int64_t c = 0; c < channels_; ++c) {
        out[c * panel + j] = token < rows_.positions ? key[c] : 0.0F;
      }
    }
  }

  void pack_value_panel(const float* values, std::int64_t first_channel, float* out) const {
    const std::int64_t panel = functions_.panel;
    for (std::int64_t token = 0; token < rows_.positions; ++token) {
      const float* value = values + token * rows_.channels + first_channel;
      for (std::int64_t j = 0; j < panel; ++j) {
        out[token * panel + j] = first_channel + j < channels_ ? value[j] : 0.0F;
      }
    }
  }

  void attend(const LaunchContext& context, const float* qkv, float* out) const {
    const auto* keys = reinterpret_cast<const float*>(context.workspace);
    const float* values = keys + key_floats();
    auto* scratch = reinterpret_cast<float*>(context.workspace) + key_floats() + value_floats();
    constexpr std::int64_t kRows = AttentionKernels::kRows;
    context.team.parallel_for_slots(blocks_, slots_, [&](std::int64_t task, std::int64_t slot) {
      const std::int64_t first = task * kRows;
      AttentionBlock block{};
      block.queries = qkv + first * rows_.channels;
      block.query_stride = rows_.channels;
      block.rows = std::min(kRows, rows_.positions - first);
      block.keys = keys;
      block.values = values;
      block.tokens = rows_.positions;
      block.channels = channels_;
      block.scale = static_cast<float>(1.0 / std::sqrt(static_cast<double>(channels_)));
      block.score_stride = functions_.score_stride(rows_.positions);
      block.scratch = scratch + slot * scratch_floats();
      block.out = out + first * heads_ * channels_;
      block.out_stride = heads_ * channels_;
      functions_.attend(block);
    });
  }

  Rows rows_;
  std::int64_t heads_;
  std::int64_t channels_;  // of a head
  const AttentionKernels& functions_;
  std::int64_t blocks_;
  std::int64_t slots_;
};

}  // namespace

std::unique_ptr<Implementation> make_attention() {
  return make_implementation(
      {"kernels.attention",
       [](const OpView& view) { return refuse_unless_channels_innermost(view.input(0), "qkv"); },
       [](const OpView& view, const Machine& machine) -> std::unique_ptr<Kernel> {
         return std::make_unique<AttentionKernel>(view, machine);
       }});
}

}  // namespace mezzotint::kernels
