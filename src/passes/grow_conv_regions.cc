#include <algorithm>
#include <map>

#include "base/check.h"
#include "passes/passes.h"
#include "passes/rewriter.h"

namespace mezzotint {
namespace {

// The ops of one region while it grows. `chain_end` is the last op on the way from the convolution
// to the region's first output: the region takes its place, since by then all its inputs exist.
struct Members {
  std::vector<OpId> ops;  // ascending, which is topological
  OpId chain_end = 0;
  std::vector<ValueId> outputs;
};

class RegionGrower {
 public:
  RegionGrower(const Graph& graph, const AcceptRegion& accept)
      : graph_(graph),
        accept_(accept),
        uses_(use_counts(graph)),
        readers_(graph.values().size()),
        taken_(graph.ops().size(), false) {
    for (OpId id = 0; id < graph.ops().size(); ++id) {
      for (const ValueId input : graph.op(id).inputs) {
        readers_[input].push_back(id);
      }
    }
  }

  [[nodiscard]] bool taken(OpId id) const { return taken_[id]; }

  Members grow(OpId conv) {
    Members members{{conv}, conv, graph_.op(conv).outputs};
    grow_sources(members, graph_.op(conv).inputs[0]);
    while (grow_epilogue(members)) {
    }
    grow_moments(members);
    if (members.ops.size() > 1) {
      for (const OpId member : members.ops) {
        // A concat that others read as well is copied; anything else belongs to one region.
        taken_[member] =
            graph_.op(member).kind != OpKind::concat || uses_[graph_.op(member).outputs[0]] == 1;
      }
    }
    return members;
  }

  // The region as an op on source values, with its body.
  Result<Op> make_region(const Members& members, const std::string& name) const {
    Graph body;
    std::map<ValueId, ValueId> inner;
    Op region{OpKind::region, name, {}, {}, {}, nullptr};
    std::vector<bool> made_inside(graph_.values().size(), false);
    for (const OpId id : members.ops) {
      const Op& op = graph_.op(id);
      for (const ValueId input : op.inputs) {
        if (!made_inside[input] && !inner.contains(input)) {
          const Value& value = graph_.value(input);
          inner[input] = body.add_input(value.name, value.type, value.rate);
          region.inputs.push_back(input);
        }
      }
      for (const ValueId output : op.outputs) {
        made_inside[output] = true;
      }
    }
    for (const OpId id : members.ops) {
      Op copy = graph_.op(id);
      for (ValueId& input : copy.inputs) {
        input = inner.at(input);
      }
      const auto made = body.add_op(std::move(copy));
      if (!made) {
        return made.error();
      }
      for (std::size_t i = 0; i < graph_.op(id).outputs.size(); ++i) {
        inner[graph_.op(id).outputs[i]] = body.op(*made).outputs[i];
      }
    }
    for (const ValueId output : members.outputs) {
      body.add_output(inner.at(output));
    }
    region.body = std::make_shared<const Graph>(std::move(body));
    return region;
  }

 private:
  const Op* producer(ValueId id) const {
    const Value& value = graph_.value(id);
    return value.kind == ValueKind::kResult ? &graph_.op(value.producer) : nullptr;
  }

  // Takes `candidate` over when some implementation would compute it.
  bool try_candidate(Members& members, Members candidate) const {
    std::sort(candidate.ops.begin(), candidate.ops.end());
    auto region = make_region(candidate, "candidate");
    if (!region) {
      return false;
    }
    // A scratch graph that holds nothing but the region, for the implementations to look at.
    Graph scratch;
    for (ValueId& input : region->inputs) {
      const Value& value = graph_.value(input);
      input = value.kind == ValueKind::kParameter
                  ? scratch.add_parameter(value.name, value.type.shape)
                  : scratch.add_input(value.name, value.type, value.rate);
    }
    const auto id = scratch.add_op(std::move(*region));
    if (!id || !accept_({scratch, scratch.op(*id)})) {
      return false;
    }
    members = std::move(candidate);
    return true;
  }

  void grow_sources(Members& members, ValueId x) const {
    std::vector<ValueId> sources{x};
    if (const Op* concat = producer(x); concat != nullptr && concat->kind == OpKind::concat) {
      Members candidate = members;
      candidate.ops.push_back(graph_.value(x).producer);
      if (!try_candidate(members, candidate)) {
        return;
      }
      if (uses_[x] > 1) {
        return;  // the others need the sources as they are
      }
      sources = concat->inputs;
    }
    for (const ValueId source : sources) {
      grow_source(members, source);
    }
  }

  // What makes a source, last first.
  void grow_source(Members& members, ValueId source) const {
    const auto can_load = [&](const Op* op) {
      return op != nullptr && uses_[source] == 1 &&
             (op->kind == OpKind::affine || op->kind == OpKind::upsample_trilinear ||
              op->kind == OpKind::reorder);
    };
    for (const Op* op = producer(source); can_load(op); op = producer(source)) {
      Members candidate = members;
      candidate.ops.push_back(graph_.value(source).producer);
      if (!try_candidate(members, candidate)) {
        return;
      }
      source = op->inputs[0];
    }
  }

  bool grow_epilogue(Members& members) const {
    const ValueId result = members.outputs[0];
    if (uses_[result] != 1 || readers_[result].size() != 1) {
      return false;
    }
    const OpId reader = readers_[result][0];
    const Op& op = graph_.op(reader);
    const bool follows = op.kind == OpKind::add || op.kind == OpKind::reorder ||
                         (op.kind == OpKind::add_channels && op.inputs[0] == result);
    if (!follows || taken_[reader]) {
      return false;
    }
    Members candidate = members;
    candidate.ops.push_back(reader);
    candidate.chain_end = reader;
    candidate.outputs[0] = op.outputs[0];
    return try_candidate(members, candidate) && op.kind != OpKind::reorder;
  }

  void grow_moments(Members& members) const {
    for (const OpId reader : readers_[members.outputs[0]]) {
      if (graph_.op(reader).kind == OpKind::channel_moments) {
        Members candidate = members;
        candidate.ops.push_back(reader);
        candidate.outputs.push_back(graph_.op(reader).outputs[0]);
        try_candidate(members, candidate);
        return;
      }
    }
  }

  const Graph& graph_;
  const AcceptRegion& accept_;
  std::vector<int> uses_;
  std::vector<std::vector<OpId>> readers_;
  std::vector<bool> taken_;
};

}  // namespace

Result<Graph> grow_conv_regions(const Graph& graph, const AcceptRegion& accept) {
  RegionGrower grower(graph, accept);
  std::map<OpId, std::pair<OpId, Members>> region_at;  // chain end -> convolution, members
  // Last first: of two convolutions that meet in an add, the later one takes it, so that the
  // earlier one runs early and its input's memory can be reused.
  for (OpId id = static_cast<OpId>(graph.ops().size()); id-- > 0;) {
    if (graph.op(id).kind != OpKind::conv3d) {
      continue;
    }
    Members members = grower.grow(id);
    const OpId end = members.chain_end;
    if (members.ops.size() > 1) {
      region_at.emplace(end, std::pair(id, std::move(members)));
    }
  }

  Rewriter rewriter(graph);
  for (OpId id = 0; id < graph.ops().size(); ++id) {
    if (const auto found = region_at.find(id); found != region_at.end()) {
      const auto& [conv, members] = found->second;
      auto region = grower.make_region(members, graph.op(conv).name);
      if (!region) {
        return region.error();
      }
      region->outputs = members.outputs;
      if (Status status = rewriter.clone(*region); !status) {
        return status.error();
      }
    } else if (!grower.taken(id)) {
      if (Status status = rewriter.clone(graph.op(id)); !status) {
        return status.error();
      }
    }
  }
  auto fused = std::move(rewriter).finish();
  return remove_dead_ops(fused);
}

}  // namespace mezzotint
