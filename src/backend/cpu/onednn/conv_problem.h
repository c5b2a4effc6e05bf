// What the primitives of a convolution are made from.
#pragma once

#include <oneapi/dnnl/dnnl.hpp>

#include <cstddef>
#include <vector>

#include "backend/cpu/onednn/conv_slabs.h"
#include "graph/conv_region.h"

namespace mezzotint {

struct ConvProblem {
  ConvRegion region;
  std::int64_t samples = 1;  // computed one by one
  Shape src;                 // of the first source; others differ in channels only
  Shape dst;
  Shape weight;
  std::vector<ConvSlab> slabs;
  std::vector<ConvSlab> forms;            // slabs that differ in more than their place
  std::vector<std::size_t> form_of_slab;  // index into forms

  [[nodiscard]] bool has_bias() const { return region.bias || region.time_vector; }
};

[[nodiscard]] ConvProblem make_conv_problem(const OpView& view, const ConvRegion& region);

// The weights of one source.
[[nodiscard]] dnnl::memory::dims conv_weight_dims(const ConvProblem& problem, std::size_t source);

// One source of one slab form. The first source brings the bias and adds to the residual, if any;
// the others add to what is there. The library chooses the weights' layout; it sums in an order
// that depends on the number of threads in force, which must be 1. Throws dnnl::error.
[[nodiscard]] dnnl::convolution_forward::primitive_desc describe_conv_primitive(
    const ConvProblem& problem, const ConvSlab& form, std::size_t source,
    const dnnl::engine& engine);

}  // namespace mezzotint
