#include "backend/cpu/onednn/conv_primitive.h"

namespace mezzotint {

using dnnl::convolution_forward;
using dnnl::memory;

namespace {

memory::data_type operand_type(const ConvSchedule& schedule) {
  return schedule.operands == DType::kBF16 ? memory::data_type::bf16 : memory::data_type::f32;
}

}  // namespace

convolution_forward::primitive_desc describe_conv_call(const ConvSchedule& schedule,
                                                       const CallForm& form,
                                                       const dnnl::engine& engine) {
  const Shape& src = schedule.src;
  const Shape& dst = schedule.dst;
  const ConvRegion& region = schedule.region;
  const memory::data_type operands = operand_type(schedule);
  const std::int64_t channels = region.sources[form.source].channels;
  const memory::desc src_desc({1, channels, form.depth.src_count, form.height.src_count, src[4]},
                              operands, memory::format_tag::ndhwc);
  const memory::desc dst_desc({1, dst[1], form.depth.dst_count, form.height.dst_count, dst[4]},
                              memory::data_type::f32, memory::format_tag::ndhwc);
  const memory::desc weights(
      {dst[1], channels, form.depth_taps, form.height_taps, schedule.weight[4]}, operands,
      memory::format_tag::any);
  dnnl::post_ops add_to_output;
  add_to_output.append_sum();
  dnnl::primitive_attr attributes;
  attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  attributes.set_post_ops(add_to_output);
  const convolution_forward::desc desc(
      dnnl::prop_kind::forward_inference, dnnl::algorithm::convolution_direct, src_desc, weights,
      dst_desc, memory::dims(3, region.stride),
      {form.depth.pad_before, form.height.pad_before, region.padding},
      {form.depth.pad_after, form.height.pad_after, region.padding});
  return {desc, attributes, engine};
}

dnnl::reorder::primitive_desc describe_gather(const ConvSchedule& schedule, const CallForm& form,
                                              const dnnl::engine& engine) {
  const Shape& src = schedule.src;
  const std::int64_t channels = schedule.region.sources[form.source].channels;
  const std::int64_t row = src[4] * channels;
  const std::int64_t plane = src[3] * row;
  const memory::dims shape{1, channels, form.depth.src_count, form.height.src_count, src[4]};
  const memory::desc from(shape, memory::data_type::f32,
                          memory::dims{src[2] * plane, 1, plane, row, channels});
  const memory::desc to(shape, operand_type(schedule), memory::format_tag::ndhwc);
  dnnl::primitive_attr attributes;
  attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  return {engine, from, engine, to, attributes};
}

WeightPart weight_part(const ConvSchedule& schedule, std::size_t source, const TapGroup& group) {
  const Shape& weight = schedule.weight;
  std::int64_t first_channel = 0;
  for (std::size_t s = 0; s < source; ++s) {
    first_channel += schedule.region.sources[s].channels;
  }
  const std::int64_t row = weight[4];
  const std::int64_t plane = weight[3] * row;
  const std::int64_t channel = weight[2] * plane;
  return {{{weight[0], schedule.region.sources[source].channels, group.depth_count,
            group.height_count, weight[4]},
           memory::data_type::f32,
           memory::dims{weight[1] * channel, channel, plane, row, 1}},
          first_channel * channel + group.depth_begin * plane + group.height_begin * row};
}

}  // namespace mezzotint
