#include "runtime/arrangement.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>

#include "passes/passes.h"
#include "runtime/memory_planner.h"

namespace mezzotint {
namespace {

// Of the predicted time of a step: what all repeated ops together may add to it.
constexpr double kMostRepeatedShare = 0.04;
// Repeating an op must lower the peak by at least this many times the share of the time that it
// takes, ...
constexpr double kLeastWorth = 4;
// ... and by this share at least: less is not worth a longer graph.
constexpr double kLeastGain = 1.0 / 256;

class Arranger {
 public:
  Arranger(const Graph& lowered, std::span<const OpNeeds> needs)
      : needs_(needs), best_{lowered, std::vector<OpId>(lowered.ops().size()), {}, {}, {}, {}, 0} {
    std::iota(best_.origin.begin(), best_.origin.end(), OpId{0});
    for (OpId id = 0; id < lowered.ops().size(); ++id) {
      if (lowered.value(lowered.op(id).outputs[0]).rate == Rate::kStep) {
        step_seconds_ += needs[id].seconds;
      }
    }
  }

  Result<Arrangement> run() {
    best_.order = order_by_rate(best_.graph);
    order_for_memory(best_);
    if (std::isfinite(step_seconds_)) {
      bool repeated = true;
      while (repeated) {
        auto result = repeat_something();
        if (!result) {
          return result.error();
        }
        repeated = *result;
      }
    }
    place();
    return std::move(best_);
  }

 private:
  // By OpId of the arrangement's graph.
  [[nodiscard]] std::vector<OpMemory> memory_of(const Arrangement& arrangement) const {
    std::vector<OpMemory> memory;
    for (const OpId origin : arrangement.origin) {
      memory.push_back(needs_[origin].memory);
    }
    return memory;
  }

  void order_for_memory(Arrangement& arrangement) const {
    const std::vector<OpMemory> memory = memory_of(arrangement);
    arrangement.order = reorder_for_memory(arrangement.graph, std::move(arrangement.order), memory);
    arrangement.live = liveness_of(arrangement.graph, arrangement.order, memory);
  }

  [[nodiscard]] std::size_t peak_position() const {
    const std::vector<std::size_t>& bytes = best_.live.bytes;
    return static_cast<std::size_t>(std::max_element(bytes.begin(), bytes.end()) - bytes.begin());
  }

  // What the results of `op` take while they wait at `peak` for a later reader, less what would
  // have to wait in their place.
  [[nodiscard]] std::int64_t bytes_freed(const Op& op, std::size_t peak,
                                         const std::vector<bool>& in_arena) const {
    const Graph& graph = best_.graph;
    std::int64_t bytes = 0;
    for (const ValueId output : op.outputs) {
      const Liveness::Span& span = best_.live.values[output];
      const bool waits = span.first < peak && peak < span.last;
      bytes += waits ? graph.value(output).type.bytes() : 0;
    }
    std::vector<ValueId> inputs = op.inputs;
    std::sort(inputs.begin(), inputs.end());
    inputs.erase(std::unique(inputs.begin(), inputs.end()), inputs.end());
    for (const ValueId input : inputs) {
      const bool is_free = in_arena[input] && best_.live.values[input].last < peak;
      bytes -= is_free ? graph.value(input).type.bytes() : 0;
    }
    return bytes;
  }

  // Ops of a step that could run a second time, after `peak`, those that free most first.
  [[nodiscard]] std::vector<OpId> waiting_at(std::size_t peak) const {
    const Graph& graph = best_.graph;
    const std::vector<bool> in_arena = arena_values(graph);
    std::vector<std::pair<std::int64_t, OpId>> waiting;
    for (OpId id = 0; id < graph.ops().size(); ++id) {
      const std::vector<ValueId>& outputs = graph.op(id).outputs;
      const std::int64_t bytes = bytes_freed(graph.op(id), peak, in_arena);
      const bool can_repeat =
          graph.value(outputs[0]).rate == Rate::kStep &&
          std::count(best_.origin.begin(), best_.origin.end(), best_.origin[id]) == 1 &&
          std::all_of(outputs.begin(), outputs.end(), [&](ValueId v) { return in_arena[v]; });
      if (bytes > 0 && can_repeat) {
        waiting.emplace_back(bytes, id);
      }
    }
    std::stable_sort(waiting.begin(), waiting.end(),
                     [](const auto& a, const auto& b) { return a.first > b.first; });
    std::vector<OpId> ops;
    for (const auto& [bytes, id] : waiting) {
      ops.push_back(id);
    }
    return ops;
  }

  // The same arrangement, but what `op` makes is made again for its readers after `peak`. Nothing
  // when it has no readers on both sides, or one at the peak.
  [[nodiscard]] Result<std::optional<Arrangement>> repeated(OpId op, std::size_t peak) const {
    const Graph& graph = best_.graph;
    const std::vector<OpId>& order = best_.order.ops;
    std::vector<OpId> late;  // in the order of running
    std::size_t early = 0;
    for (std::size_t position = 0; position < order.size(); ++position) {
      const std::vector<ValueId>& inputs = graph.op(order[position]).inputs;
      const bool reads = std::any_of(inputs.begin(), inputs.end(), [&](ValueId id) {
        const Value& value = graph.value(id);
        return value.kind == ValueKind::kResult && value.producer == op;
      });
      if (!reads) {
        continue;
      }
      if (position == peak) {
        return std::optional<Arrangement>();
      }
      if (position < peak) {
        ++early;
      } else {
        late.push_back(order[position]);
      }
    }
    if (early == 0 || late.empty()) {
      return std::optional<Arrangement>();
    }
    auto rewritten = repeat_op(graph, op, late);
    if (!rewritten) {
      return rewritten.error();
    }
    Arrangement result;
    result.graph = std::move(*rewritten);
    const OpId made = *std::min_element(late.begin(), late.end());
    result.origin = best_.origin;
    result.origin.insert(result.origin.begin() + made, best_.origin[op]);
    for (const OpId id : order) {
      if (id == late.front()) {
        result.order.ops.push_back(made);
      }
      result.order.ops.push_back(id < made ? id : id + 1);
    }
    result.order.first_step = best_.order.first_step;
    order_for_memory(result);
    return std::optional(std::move(result));
  }

  // False when no op is worth it.
  Result<bool> repeat_something() {
    const std::size_t position = peak_position();
    const auto peak = static_cast<double>(best_.live.peak_bytes());
    for (const OpId op : waiting_at(position)) {
      const double share = needs_[best_.origin[op]].seconds / step_seconds_;
      if (repeated_share_ + share > kMostRepeatedShare) {
        continue;
      }
      auto candidate = repeated(op, position);
      if (!candidate) {
        return candidate.error();
      }
      if (!*candidate) {
        continue;
      }
      const double gain = 1 - static_cast<double>((*candidate)->live.peak_bytes()) / peak;
      if (gain >= std::max(kLeastGain, kLeastWorth * share)) {
        best_ = std::move(**candidate);
        repeated_share_ += share;
        return true;
      }
    }
    return false;
  }

  void place() {
    const Graph& graph = best_.graph;
    const std::vector<OpId>& order = best_.order.ops;
    const std::vector<bool> in_arena = arena_values(graph);
    std::vector<BufferRequest> requests;
    std::vector<std::size_t> request_of(graph.values().size(), 0);
    std::vector<std::size_t> workspace_of;
    for (std::size_t position = 0; position < order.size(); ++position) {
      const Op& op = graph.op(order[position]);
      for (std::size_t i = 0; i < op.outputs.size(); ++i) {
        const ValueId id = op.outputs[i];
        if (!in_arena[id]) {
          continue;
        }
        const std::size_t last = best_.live.values[id].last;
        if (i == 0 && best_.live.in_place[position]) {
          request_of[id] = request_of[*best_.live.in_place[position]];
          requests[request_of[id]].last = last;
        } else {
          request_of[id] = requests.size();
          requests.push_back(
              {static_cast<std::size_t>(graph.value(id).type.bytes()), position, last});
        }
      }
      workspace_of.push_back(requests.size());
      requests.push_back(
          {needs_[best_.origin[order[position]]].memory.workspace_bytes, position, position});
    }
    const BufferPlacement placement = place_buffers(requests);
    best_.arena_bytes = placement.total_bytes;
    best_.values.assign(graph.values().size(), 0);
    for (ValueId id = 0; id < graph.values().size(); ++id) {
      if (in_arena[id]) {
        best_.values[id] = placement.offsets[request_of[id]];
      }
    }
    for (const std::size_t workspace : workspace_of) {
      best_.workspaces.push_back(placement.offsets[workspace]);
    }
  }

  std::span<const OpNeeds> needs_;  // by OpId of the lowered graph
  Arrangement best_;
  double step_seconds_ = 0;
  double repeated_share_ = 0;
};

}  // namespace

Result<Arrangement> arrange(const Graph& lowered, std::span<const OpNeeds> needs) {
  return Arranger(lowered, needs).run();
}

}  // namespace mezzotint
