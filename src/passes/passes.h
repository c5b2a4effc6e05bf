// The rewrites. Each takes a graph and returns another that computes the same outputs.
// Errors are those of Graph::add_op and mean that the input graph was malformed.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "graph/graph.h"
#include "graph/plan.h"

namespace mezzotint {

// Drops ops whose results nothing uses.
Result<Graph> remove_dead_ops(const Graph& graph);

// affine(concat(a, b)) becomes concat(affine(a), affine(b)), and channel_moments(concat(a, b))
// becomes concat(moments(a), moments(b)): a channel's statistics don't depend on its neighbours, so
// the joined tensor need never exist. Where nothing else reads it, it no longer does.
Result<Graph> sink_concat(const Graph& graph);

// Of ops with equal kinds, attributes and inputs the first computes for all: a skip's moments are
// those of the norm that follows it and of the norm behind its concatenation. An op that makes a
// graph output stays.
Result<Graph> merge_equal_ops(const Graph& graph);

// What follows from the timestep alone, for all steps of a run at once. `t`, an input of the step
// rate [N], becomes one of the volume rate [steps]: every timestep that a run will visit. The ops
// on vectors that depend on it and on weights alone move to the volume rate with it; where another
// op reads one of their results X, an op X.row selects the row of the present step, which a new
// input `step` (int32, [N], step rate) gives.
//
// Its inputs are others, so it comes before compilation: the caller's bindings change.
Result<Graph> tabulate_steps(const Graph& graph, std::string_view t, std::int64_t steps);

// Activations (rank 5) in NDHWC; reorders at the rank-5 inputs and outputs, whose bytes stay as
// they are. Those of one channel, whose order is the same, become NDHWC without one.
Result<Graph> use_channels_last(const Graph& graph);

// What an op takes by its cheapest implementation, and what the others have against it.
struct Price {
  std::optional<double> seconds;                // nothing: none can compute it
  std::map<std::string, std::string> refusals;  // by implementation
};
// Of an op in its graph. A region has the name of its convolution.
using PriceOp = std::function<Price(const OpView&)>;

// An op beside a convolution that its region could not take, or only at a higher cost.
struct Declined {
  std::string convolution;
  std::string op;
  std::string refusal;  // empty: the costs say no
  double apart_seconds = 0;
  double fused_seconds = 0;
};

struct Grown {
  Graph graph;
  std::vector<Declined> declined;  // ops of `graph`, once for each convolution asked
};

// Grows a region around each convolution for as long as it costs no more than its parts: sources of
// a concat; an affine, an interpolation or a reorder on load; time vector, residual and at last a
// reorder in the epilogue; channel moments as a second output. What runs at a slower rate than the
// region counts nothing, so that work done once per volume stays there unless it comes for free.
//
// A convolution that `asked` names takes exactly that, whatever it costs and whether or not it can
// be computed, as far as it is there to be taken.
Result<Grown> grow_conv_regions(const Graph& graph, const PriceOp& price,
                                const std::map<std::string, Fusions>& asked = {});

// Runs `op` a second time, under NAME.again, right before the first of `readers`, which read those
// results from then on: its own need not be held for them. The new op takes the id of that reader;
// ids from there on are one higher than in `graph`. `readers` come after `op`.
Result<Graph> repeat_op(const Graph& graph, OpId op, std::span<const OpId> readers);

}  // namespace mezzotint
