#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <span>

#include "graph/conv_region.h"
#include "passes/passes.h"
#include "passes/rewriter.h"

namespace mezzotint {
namespace {

// The ops of one region while it grows, with what it would cost. `chain_end` is the last op on the
// way from the convolution to the region's first output: the region takes its place, since by then
// all its inputs exist.
struct Members {
  OpId conv = 0;
  std::vector<OpId> ops;  // ascending, which is topological
  OpId chain_end = 0;
  std::vector<ValueId> outputs;
  const Fusions* asked = nullptr;  // null: by price
  Price price;
};

// What may stand before a convolution, from the inside out.
constexpr OpKind kLoads[] = {OpKind::affine, OpKind::upsample_trilinear, OpKind::reorder};

bool loads_source(OpKind kind) {
  return std::ranges::count(kLoads, kind) != 0;
}

// What speaks against `grown` alone; all there is when nothing could compute `before` either.
std::string new_refusals(const Price& before, const Price& grown) {
  std::string text;
  for (const bool all : {false, true}) {
    for (const auto& [implementation, reason] : grown.refusals) {
      if (all || !before.refusals.contains(implementation)) {
        text += fmt::format("{}{}: {}", text.empty() ? "" : "; ", implementation, reason);
      }
    }
    if (!text.empty()) {
      break;
    }
  }
  return text;
}

class RegionGrower {
 public:
  RegionGrower(const Graph& graph, const PriceOp& price,
               const std::map<std::string, Fusions>& asked)
      : graph_(graph),
        price_(price),
        asked_(asked),
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

  // Ops that a region could not take or only at a higher cost; another may have taken them.
  [[nodiscard]] const std::vector<Declined>& declined() const { return declined_; }

  Members grow(OpId conv) {
    const Op& op = graph_.op(conv);
    Members members{conv, {conv}, conv, op.outputs, nullptr, {}};
    if (const auto found = asked_.find(op.name); found != asked_.end()) {
      members.asked = &found->second;
    } else {
      members.price = price_({graph_, op});
    }
    grow_sources(members, op.inputs[0]);
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
  Result<Op> make_region(const Members& members) const {
    Graph body;
    std::map<ValueId, ValueId> inner;
    Op region{OpKind::region, graph_.op(members.conv).name, {}, {}, {}, nullptr};
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

  Rate rate_of(ValueId id) const { return graph_.value(id).rate; }

  void decline(const Members& members, OpId op, std::string refusal) {
    declined_.push_back({graph_.op(members.conv).name, graph_.op(op).name, std::move(refusal)});
  }

  // In a scratch graph that holds nothing but the region, for the implementations to look at.
  Price price_region(const Members& members) const {
    auto region = make_region(members);
    if (!region) {
      return {};
    }
    Graph scratch;
    for (ValueId& input : region->inputs) {
      const Value& value = graph_.value(input);
      input = value.kind == ValueKind::kParameter
                  ? scratch.add_parameter(value.name, value.type.shape)
                  : scratch.add_input(value.name, value.type, value.rate);
    }
    const auto id = scratch.add_op(std::move(*region));
    return id ? price_({scratch, scratch.op(*id)}) : Price{};
  }

  // What `members` and `added` take for each run of `candidate`, which holds both. What runs less
  // often takes nothing, nor does an op that others need in any case.
  double seconds_apart(const Members& members, const Members& candidate,
                       std::span<const OpId> added) const {
    const Rate rate = rate_of(candidate.outputs[0]);
    double seconds = 0;
    const auto add = [&](Rate own, const Price& price) {
      seconds +=
          own == rate ? price.seconds.value_or(std::numeric_limits<double>::infinity()) : 0.0;
    };
    add(rate_of(members.outputs[0]), members.price);
    for (const OpId id : added) {
      const ValueId result = graph_.op(id).outputs[0];
      const bool hidden = std::ranges::count(candidate.outputs, result) == 0;
      if (!hidden || uses_[result] == 1) {
        add(rate_of(result), price_({graph_, graph_.op(id)}));
      }
    }
    return seconds;
  }

  // Takes over `candidate`, which is `members` without `added` yet, ops of one kind: when they were
  // asked for, or else when the region that all make costs no more than they do apart.
  bool try_candidate(Members& members, Members candidate, std::span<const OpId> added) {
    candidate.ops.insert(candidate.ops.end(), added.begin(), added.end());
    std::ranges::sort(candidate.ops);
    std::optional<Declined> reason = members.asked != nullptr
                                         ? asked_against(members, added[0])
                                         : price_against(members, candidate, added);
    if (!reason) {
      members = std::move(candidate);
      return true;
    }
    for (const OpId id : added) {
      reason->convolution = graph_.op(members.conv).name;
      reason->op = graph_.op(id).name;
      declined_.push_back(*reason);
    }
    return false;
  }

  std::optional<Declined> asked_against(const Members& members, OpId added) const {
    const auto fusion = fusion_of(graph_.op(added).kind, added > members.conv);
    if (fusion && members.asked->contains(*fusion)) {
      return std::nullopt;
    }
    return Declined{"", "", "the plan leaves it apart"};
  }

  // Prices `candidate`.
  std::optional<Declined> price_against(const Members& members, Members& candidate,
                                        std::span<const OpId> added) const {
    candidate.price = price_region(candidate);
    if (!candidate.price.seconds) {
      return Declined{"", "", new_refusals(members.price, candidate.price)};
    }
    const double apart = seconds_apart(members, candidate, added);
    if (*candidate.price.seconds > apart) {
      return Declined{"", "", "", apart, *candidate.price.seconds};
    }
    return std::nullopt;
  }

  void grow_sources(Members& members, ValueId x) {
    std::vector<ValueId> sources{x};
    if (const Op* concat = producer(x); concat != nullptr && concat->kind == OpKind::concat) {
      const OpId added[] = {graph_.value(x).producer};
      const bool taken = try_candidate(members, members, added);
      sources = concat->inputs;
      if (!taken || uses_[x] != 1) {
        decline_loads(members, sources);
        return;
      }
    }
    for (const OpKind kind : kLoads) {
      grow_loads(members, sources, kind);
    }
  }

  void decline_loads(const Members& members, std::span<const ValueId> sources) {
    for (const ValueId source : sources) {
      if (const Op* op = producer(source); op != nullptr && loads_source(op->kind)) {
        decline(members, graph_.value(source).producer, "a concatenation that stays reads it");
      }
    }
  }

  // Of all sources that are made so; they become what those ops read.
  void grow_loads(Members& members, std::span<ValueId> sources, OpKind kind) {
    const auto is_loaded = [&](ValueId source) {
      const Op* op = producer(source);
      return op != nullptr && op->kind == kind && uses_[source] == 1;
    };
    std::vector<OpId> added;
    for (const ValueId source : sources) {
      if (is_loaded(source)) {
        added.push_back(graph_.value(source).producer);
      } else if (const Op* op = producer(source); op != nullptr && op->kind == kind) {
        decline(members, graph_.value(source).producer, "something else reads it, too");
      }
    }
    if (added.empty() || !try_candidate(members, members, added)) {
      return;
    }
    for (ValueId& source : sources) {
      if (is_loaded(source)) {
        source = producer(source)->inputs[0];
      }
    }
  }

  bool follows(OpId id, ValueId result) const {
    const Op& op = graph_.op(id);
    return !taken_[id] && (op.kind == OpKind::add || op.kind == OpKind::reorder ||
                           (op.kind == OpKind::add_channels && op.inputs[0] == result));
  }

  bool grow_epilogue(Members& members) {
    const ValueId result = members.outputs[0];
    for (const OpId reader : readers_[result]) {
      if (!follows(reader, result)) {
        continue;
      }
      if (uses_[result] != 1) {
        decline(members, reader, "something else reads the convolution's result, too");
        continue;
      }
      Members candidate = members;
      candidate.chain_end = reader;
      candidate.outputs[0] = graph_.op(reader).outputs[0];
      const OpId added[] = {reader};
      return try_candidate(members, std::move(candidate), added) &&
             graph_.op(reader).kind != OpKind::reorder;
    }
    return false;
  }

  void grow_moments(Members& members) {
    for (const OpId reader : readers_[members.outputs[0]]) {
      if (graph_.op(reader).kind == OpKind::channel_moments) {
        Members candidate = members;
        candidate.outputs.push_back(graph_.op(reader).outputs[0]);
        const OpId added[] = {reader};
        try_candidate(members, std::move(candidate), added);
        return;
      }
    }
  }

  const Graph& graph_;
  const PriceOp& price_;
  const std::map<std::string, Fusions>& asked_;
  std::vector<int> uses_;
  std::vector<std::vector<OpId>> readers_;
  std::vector<bool> taken_;
  std::vector<Declined> declined_;
};

// Without what another region took.
std::vector<Declined> still_apart(const std::vector<Declined>& declined, const Graph& graph) {
  std::set<std::string_view> names;
  for (const Op& op : graph.ops()) {
    names.insert(op.name);
  }
  std::vector<Declined> apart;
  std::ranges::copy_if(declined, std::back_inserter(apart),
                       [&](const Declined& each) { return names.contains(each.op); });
  return apart;
}

}  // namespace

Result<Grown> grow_conv_regions(const Graph& graph, const PriceOp& price,
                                const std::map<std::string, Fusions>& asked) {
  RegionGrower grower(graph, price, asked);
  std::map<OpId, Members> region_at;  // by chain end
  // Last first: of two convolutions that meet in an add, the later one takes it, so that the
  // earlier one runs early and its input's memory can be reused.
  for (OpId id = static_cast<OpId>(graph.ops().size()); id-- > 0;) {
    if (graph.op(id).kind != OpKind::conv3d) {
      continue;
    }
    Members members = grower.grow(id);
    if (members.ops.size() > 1) {
      region_at.emplace(members.chain_end, std::move(members));
    }
  }

  Rewriter rewriter(graph);
  for (OpId id = 0; id < graph.ops().size(); ++id) {
    if (const auto found = region_at.find(id); found != region_at.end()) {
      auto region = grower.make_region(found->second);
      if (!region) {
        return region.error();
      }
      region->outputs = found->second.outputs;
      if (Status status = rewriter.clone(*region); !status) {
        return status.error();
      }
    } else if (!grower.taken(id)) {
      if (Status status = rewriter.clone(graph.op(id)); !status) {
        return status.error();
      }
    }
  }
  auto fused = remove_dead_ops(std::move(rewriter).finish());
  if (!fused) {
    return fused.error();
  }
  std::vector<Declined> declined = still_apart(grower.declined(), *fused);
  return Grown{std::move(*fused), std::move(declined)};
}

}  // namespace mezzotint
