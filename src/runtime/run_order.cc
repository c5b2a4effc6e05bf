#include "runtime/run_order.h"

#include <algorithm>
#include <functional>

#include "base/aligned_buffer.h"

namespace mezzotint {
namespace {

// While one op runs.
struct Moment {
  std::size_t entering = 0;  // bytes of what was made before and is still needed
  std::size_t bytes = 0;     // all that is live, workspace included
  std::optional<ValueId> in_place;
};

// An order with what is live at each position, kept up to date while ops move.
class Timeline {
 public:
  Timeline(const Graph& graph, RunOrder order, std::span<const OpMemory> memory)
      : graph_(graph),
        order_(std::move(order)),
        memory_(memory),
        in_arena_(arena_values(graph)),
        position_(graph.ops().size()),
        readers_(graph.values().size()),
        values_(graph.values().size()) {
    for (OpId id = 0; id < graph.ops().size(); ++id) {
      for (const ValueId input : graph.op(id).inputs) {
        readers_[input].push_back(id);
      }
    }
    for (std::size_t position = order_.first_step; position < size(); ++position) {
      for (const ValueId input : op_at(position).inputs) {
        if (graph.value(input).rate != Rate::kStep) {
          values_[input].last = size();
        }
      }
    }
    locate(0, size());
    moments_ = walk(0, size(), 0);
    unit_ = std::max<std::size_t>(peak() / kUnits, 1);
  }

  [[nodiscard]] std::size_t size() const { return order_.ops.size(); }

  // Right before the first reader of what the op makes.
  [[nodiscard]] std::size_t latest(std::size_t position) const {
    std::size_t first_reader = size();
    for (const ValueId output : op_at(position).outputs) {
      for (const OpId reader : readers_[output]) {
        first_reader = std::min(first_reader, position_[reader]);
      }
    }
    if (first_reader == size()) {
      return position;  // what it makes is the caller's, or nobody's
    }
    const bool step = position >= order_.first_step;
    return (step ? first_reader : std::min(first_reader, order_.first_step)) - 1;
  }

  // Right after what the op reads.
  [[nodiscard]] std::size_t earliest(std::size_t position) const {
    std::size_t begin = position >= order_.first_step ? order_.first_step : 0;
    for (const ValueId input : op_at(position).inputs) {
      const Value& value = graph_.value(input);
      if (value.kind == ValueKind::kResult) {
        begin = std::max(begin, position_[value.producer] + 1);
      }
    }
    return begin;
  }

  // Moves an op, those between closing up, if that gains something.
  bool try_move(std::size_t from, std::size_t to) {
    if (from == to) {
      return false;
    }
    const std::size_t begin = std::min(from, to);
    const std::size_t end = std::max(from, to) + 1;
    rotate(from, to);
    const std::vector<Moment> moved = walk(begin, end, moments_[begin].entering);
    const auto window = std::span(moments_).subspan(begin, end - begin);
    if (!gains(window, from - begin, moved, to - begin)) {
      rotate(to, from);
      return false;
    }
    std::copy(moved.begin(), moved.end(), window.begin());
    return true;
  }

  [[nodiscard]] Liveness liveness() const {
    Liveness live{values_, {}, {}};
    for (const Moment& moment : moments_) {
      live.in_place.push_back(moment.in_place);
      live.bytes.push_back(moment.bytes);
    }
    return live;
  }

  [[nodiscard]] RunOrder take() && { return std::move(order_); }

 private:
  // Gains below this part of the peak are worth no move.
  static constexpr std::size_t kUnits = 1024;

  [[nodiscard]] const Op& op_at(std::size_t position) const {
    return graph_.op(order_.ops[position]);
  }
  [[nodiscard]] std::size_t bytes_of(ValueId id) const {
    return in_arena_[id] ? align_up(static_cast<std::size_t>(graph_.value(id).type.bytes())) : 0;
  }
  [[nodiscard]] std::size_t peak() const {
    std::size_t peak = 0;
    for (const Moment& moment : moments_) {
      peak = std::max(peak, moment.bytes);
    }
    return peak;
  }

  void rotate(std::size_t from, std::size_t to) {
    const auto at = [&](std::size_t position) {
      return order_.ops.begin() + static_cast<std::ptrdiff_t>(position);
    };
    if (from < to) {
      std::rotate(at(from), at(from + 1), at(to + 1));
    } else {
      std::rotate(at(to), at(from), at(from + 1));
    }
    locate(std::min(from, to), std::max(from, to) + 1);
  }

  // Positions of the ops in [begin, end), and the last reader of what is not needed from `end` on.
  void locate(std::size_t begin, std::size_t end) {
    for (std::size_t position = begin; position < end; ++position) {
      const Op& op = op_at(position);
      position_[order_.ops[position]] = position;
      const auto touch = [&](ValueId id) {
        values_[id].last = values_[id].last < end ? position : values_[id].last;
      };
      for (const ValueId output : op.outputs) {
        values_[output].first = position;
        touch(output);
      }
      std::for_each(op.inputs.begin(), op.inputs.end(), touch);
    }
  }

  [[nodiscard]] std::vector<Moment> walk(std::size_t begin, std::size_t end,
                                         std::size_t live) const {
    std::vector<Moment> moments;
    for (std::size_t position = begin; position < end; ++position) {
      const Op& op = op_at(position);
      const OpMemory& memory = memory_[order_.ops[position]];
      Moment moment{
          live, 0,
          in_place_input({graph_, op}, position, values_, in_arena_, memory.aliasable_inputs)};
      for (const ValueId output : op.outputs) {
        live += bytes_of(output);
      }
      moment.bytes = live + align_up(memory.workspace_bytes);
      if (moment.in_place) {
        moment.bytes -= bytes_of(*moment.in_place);
      }
      moments.push_back(moment);
      std::vector<ValueId> touched = op.outputs;
      touched.insert(touched.end(), op.inputs.begin(), op.inputs.end());
      std::sort(touched.begin(), touched.end());
      touched.erase(std::unique(touched.begin(), touched.end()), touched.end());
      for (const ValueId id : touched) {
        live -= values_[id].last == position ? bytes_of(id) : 0;
      }
    }
    return moments;
  }

  // Whether less is live while others run, or the op needs less itself. That it runs when less is
  // live is no gain, but nothing may be worse for its being elsewhere.
  [[nodiscard]] bool gains(std::span<const Moment> old_window, std::size_t old_position,
                           std::span<const Moment> new_window, std::size_t new_position) const {
    const auto added = [&](const Moment& moment) {
      return (moment.bytes - moment.entering) / unit_;
    };
    const std::size_t nobody = old_window.size();
    if (amounts(new_window, nobody) > amounts(old_window, nobody)) {
      return false;
    }
    return amounts(new_window, new_position) < amounts(old_window, old_position) ||
           added(new_window[new_position]) < added(old_window[old_position]);
  }

  // What is live, the largest first, at all positions but one.
  [[nodiscard]] std::vector<std::size_t> amounts(std::span<const Moment> window,
                                                 std::size_t without) const {
    std::vector<std::size_t> units;
    for (std::size_t i = 0; i < window.size(); ++i) {
      if (i != without) {
        units.push_back(window[i].bytes / unit_);
      }
    }
    std::sort(units.begin(), units.end(), std::greater());
    return units;
  }

  const Graph& graph_;
  RunOrder order_;
  std::span<const OpMemory> memory_;
  std::vector<bool> in_arena_;
  std::vector<std::size_t> position_;       // by OpId
  std::vector<std::vector<OpId>> readers_;  // by ValueId
  std::vector<Liveness::Span> values_;      // by ValueId
  std::vector<Moment> moments_;             // by position
  std::size_t unit_ = 1;
};

}  // namespace

RunOrder order_by_rate(const Graph& graph) {
  RunOrder order;
  for (const bool steps : {false, true}) {
    for (OpId id = 0; id < graph.ops().size(); ++id) {
      if ((graph.value(graph.op(id).outputs[0]).rate == Rate::kStep) == steps) {
        order.ops.push_back(id);
      }
    }
    if (!steps) {
      order.first_step = order.ops.size();
    }
  }
  return order;
}

std::vector<bool> arena_values(const Graph& graph) {
  std::vector<bool> in_arena;
  for (const Value& value : graph.values()) {
    in_arena.push_back(value.kind == ValueKind::kResult);
  }
  for (const ValueId output : graph.outputs()) {
    in_arena[output] = false;
  }
  return in_arena;
}

std::optional<ValueId> in_place_input(const OpView& view, std::size_t position,
                                      std::span<const Liveness::Span> values,
                                      const std::vector<bool>& in_arena,
                                      const AliasableInputs& aliasable_inputs) {
  const ValueId output = view.op.outputs[0];
  if (!in_arena[output]) {
    return std::nullopt;
  }
  const std::vector<ValueId>& inputs = view.op.inputs;
  for (const std::size_t i : aliasable_inputs) {
    const ValueId input = inputs[i];
    const bool dies_here = in_arena[input] && values[input].last == position &&
                           std::count(inputs.begin(), inputs.end(), input) == 1;
    if (dies_here && view.input(i).type.bytes() == view.output().type.bytes()) {
      return input;
    }
  }
  return std::nullopt;
}

std::size_t Liveness::peak_bytes() const {
  return bytes.empty() ? 0 : *std::max_element(bytes.begin(), bytes.end());
}

Liveness liveness_of(const Graph& graph, const RunOrder& order, std::span<const OpMemory> memory) {
  return Timeline(graph, order, memory).liveness();
}

RunOrder reorder_for_memory(const Graph& graph, RunOrder order, std::span<const OpMemory> memory) {
  constexpr int kMostRounds = 8;
  Timeline timeline(graph, std::move(order), memory);
  bool changed = true;
  for (int round = 0; changed && round < kMostRounds; ++round) {
    changed = false;
    for (std::size_t position = timeline.size(); position-- > 0;) {
      changed = timeline.try_move(position, timeline.latest(position)) || changed;
    }
    for (std::size_t position = 0; position < timeline.size(); ++position) {
      changed = timeline.try_move(position, timeline.earliest(position)) || changed;
    }
  }
  return std::move(timeline).take();
}

}  // namespace mezzotint
