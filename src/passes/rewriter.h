// Graph in, graph out: the scaffolding that every pass shares.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "graph/graph.h"

namespace mezzotint {

// Copies a graph op by op while a pass replaces some of them. Source values map to target values;
// names that a rewrite makes disappear stay reachable as aliases of the value that took their
// place.
class Rewriter {
 public:
  // The target starts with the source's inputs and parameters.
  explicit Rewriter(const Graph& source);
  // The target starts with `inputs`, which stand for the source's in their order, and its
  // parameters.
  Rewriter(const Graph& source, std::span<const Value> inputs);

  [[nodiscard]] const Graph& source() const { return source_; }
  [[nodiscard]] Graph& target() { return target_; }

  // The target value that stands for a source value. It must have been made already.
  [[nodiscard]] ValueId at(ValueId source) const;
  void map(ValueId source, ValueId target) { map_[source] = target; }

  // The same op on the mapped inputs.
  Status clone(const Op& op);
  // The same op on these target values.
  Status clone(const Op& op, std::vector<ValueId> inputs);
  // A new op whose inputs are target values; returns its first output.
  Result<ValueId> add(Op op);

  // Outputs and aliases of the source, carried over. Aliases of values without a counterpart are
  // dropped.
  [[nodiscard]] Graph finish() &&;

 private:
  const Graph& source_;
  Graph target_;
  std::vector<std::optional<ValueId>> map_;
};

}  // namespace mezzotint
