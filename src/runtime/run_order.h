// The order in which the ops of a graph run, and the memory that is live meanwhile.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "backend/backend.h"
#include "graph/graph.h"

namespace mezzotint {

// What an op's kernel asks of the arena.
struct OpMemory {
  std::size_t workspace_bytes = 0;
  AliasableInputs aliasable_inputs;  // empty: its result gets memory of its own
};

// Each op once, after what it reads. Those of a slower rate than a step come first.
struct RunOrder {
  std::vector<OpId> ops;
  std::size_t first_step = 0;  // position in `ops`
};

// The graph's own order within a rate.
[[nodiscard]] RunOrder order_by_rate(const Graph& graph);

// When each result in the arena is held, and how much that is. Results that are outputs of the
// graph are the caller's memory and hold nothing here.
struct Liveness {
  struct Span {
    std::size_t first = 0;  // position of its op
    std::size_t last = 0;   // of its last reader; ops.size(): steps read it again and again
  };
  std::vector<Span> values;                      // by ValueId
  std::vector<std::optional<ValueId>> in_place;  // by position: the input whose memory output 0 has
  // By position, while that op runs: results and its workspace, each as long as it is in the arena.
  std::vector<std::size_t> bytes;

  // No arena can be smaller.
  [[nodiscard]] std::size_t peak_bytes() const;
};

// `memory` by OpId.
[[nodiscard]] Liveness liveness_of(const Graph& graph, const RunOrder& order,
                                   std::span<const OpMemory> memory);

// The input whose memory output 0 of an op at `position` can have: it is in the arena, as large,
// read by nobody later and by this op once, and one of the kernel's `aliasable_inputs`. `values`
// and `in_arena` by ValueId.
[[nodiscard]] std::optional<ValueId> in_place_input(const OpView& view, std::size_t position,
                                                    std::span<const Liveness::Span> values,
                                                    const std::vector<bool>& in_arena,
                                                    const AliasableInputs& aliasable_inputs);

// Moves single ops, right before their first reader or right after what they read, where less is
// live for it: an op that may write in place of its input then runs after the input's other
// readers, and what is large is made late or freed early. Rates stay apart; where nothing is to
// gain, the order stays.
[[nodiscard]] RunOrder reorder_for_memory(const Graph& graph, RunOrder order,
                                          std::span<const OpMemory> memory);

// Results of the graph that live in the arena, by ValueId.
[[nodiscard]] std::vector<bool> arena_values(const Graph& graph);

}  // namespace mezzotint
