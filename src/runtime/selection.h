// Which implementation computes each op of a lowered graph, and what else could in less memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "backend/backend.h"
#include "graph/graph.h"
#include "mezzotint/result.h"
#include "runtime/arrangement.h"
#include "runtime/compile_options.h"
#include "runtime/lower.h"

namespace mezzotint {

class Selection {
 public:
  // One way to compute an op.
  struct Option {
    const Implementation* implementation = nullptr;
    double one_thread_seconds = 0;  // as Choice has them
    double predicted_seconds = 0;
    std::unique_ptr<Kernel> kernel;  // null: not prepared yet, or cannot be
    bool is_given_up = false;        // for another that needs less memory, for good
  };

  // What the plan names, else the cheapest. All arguments must outlive the selection. kUnsupported
  // names an op that no implementation can compute, with each one's reason.
  static Result<Selection> make(const Lowered& lowered, const Backend& backend,
                                const CompileOptions& options);

  [[nodiscard]] const Option& chosen(OpId op) const { return ops_[op].options[ops_[op].chosen]; }
  // By OpId of the lowered graph.
  [[nodiscard]] std::vector<OpNeeds> needs() const;
  // Highest memory of loading all kernels in the order of their ops, and of running in an arena of
  // this size.
  [[nodiscard]] std::uint64_t peak_bytes(std::size_t arena_bytes) const;

  // Chooses other implementations until as much is saved as `arrangement` exceeds `limit` by, as
  // far as can be told before arranging again; at least one. False when nothing is left that would
  // save.
  bool shrink(const Arrangement& arrangement, std::uint64_t limit);

  [[nodiscard]] std::unique_ptr<Kernel> take_kernel(OpId op) {
    return std::move(ops_[op].options[ops_[op].chosen].kernel);
  }

 private:
  struct Choices {
    std::vector<Option> options;
    std::size_t chosen = 0;
    bool is_planned = false;  // the plan names the implementation
  };
  class Trader;

  Selection(const Graph& lowered, const CompileOptions& options)
      : graph_(&lowered), options_(&options) {}

  const Graph* graph_;
  const CompileOptions* options_;
  std::vector<Choices> ops_;  // by OpId
};

}  // namespace mezzotint
