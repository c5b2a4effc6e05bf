#include "backend/cpu/onednn/conv_problem.h"

#include <algorithm>

namespace mezzotint {
namespace {

bool same_form(const ConvSlab& a, const ConvSlab& b) {
  return a.dst_depth == b.dst_depth && a.src_depth == b.src_depth && a.pad_front == b.pad_front &&
         a.pad_back == b.pad_back;
}

}  // namespace

ConvProblem make_conv_problem(const OpView& view, const ConvRegion& region) {
  ConvProblem problem;
  problem.region = region;
  problem.src = view.input(region.sources[0].input).type.shape;
  problem.dst = view.output().type.shape;
  problem.weight = view.input(region.weight).type.shape;
  problem.samples = problem.dst[0];
  problem.slabs =
      split_depth(problem.src[2], problem.dst[2], problem.weight[2], region.stride, region.padding);
  for (const ConvSlab& slab : problem.slabs) {
    const auto known = std::find_if(problem.forms.begin(), problem.forms.end(),
                                    [&](const ConvSlab& form) { return same_form(form, slab); });
    problem.form_of_slab.push_back(static_cast<std::size_t>(known - problem.forms.begin()));
    if (known == problem.forms.end()) {
      problem.forms.push_back(slab);
    }
  }
  return problem;
}

dnnl::memory::dims conv_weight_dims(const ConvProblem& problem, std::size_t source) {
  const Shape& weight = problem.weight;
  return {weight[0], problem.region.sources[source].channels, weight[2], weight[3], weight[4]};
}

dnnl::convolution_forward::primitive_desc describe_conv_primitive(const ConvProblem& problem,
                                                                  const ConvSlab& form,
                                                                  std::size_t source,
                                                                  const dnnl::engine& engine) {
  const Shape& src = problem.src;
  const Shape& dst = problem.dst;
  const ConvRegion& region = problem.region;
  constexpr auto kF32 = dnnl::memory::data_type::f32;
  constexpr auto kChannelsLastTag = dnnl::memory::format_tag::ndhwc;
  const dnnl::memory::desc src_desc(
      {1, region.sources[source].channels, form.src_depth, src[3], src[4]}, kF32, kChannelsLastTag);
  const dnnl::memory::desc dst_desc({1, dst[1], form.dst_depth, dst[3], dst[4]}, kF32,
                                    kChannelsLastTag);
  const dnnl::memory::desc weights(conv_weight_dims(problem, source), kF32,
                                   dnnl::memory::format_tag::any);
  const dnnl::memory::dims strides(3, region.stride);
  const dnnl::memory::dims front{form.pad_front, region.padding, region.padding};
  const dnnl::memory::dims back{form.pad_back, region.padding, region.padding};

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
    const dnnl::memory::desc bias({dst[1]}, kF32, dnnl::memory::format_tag::a);
    return {{kKind, kAlgorithm, src_desc, weights, bias, dst_desc, strides, front, back},
            attributes,
            engine};
  }
  return {
      {kKind, kAlgorithm, src_desc, weights, dst_desc, strides, front, back}, attributes, engine};
}

}  // namespace mezzotint
