// A compiled graph: prepared kernels in order, and where each value lives.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "backend/backend.h"
#include "base/aligned_buffer.h"
#include "graph/graph.h"
#include "graph/plan.h"
#include "mezzotint/cancel.h"
#include "runtime/listener.h"

namespace mezzotint {

// Memory for an input or an output of the graph, by the name it had before compilation. The
// caller's layout is the graph's own (row-major unless the graph said otherwise).
struct Binding {
  std::string_view name;
  std::byte* data = nullptr;
  std::size_t bytes = 0;
};

struct RunOptions {
  const ThreadTeam& team;
  const CancelToken* cancel = nullptr;  // read before each op
  std::span<Listener* const> listeners = {};
};

// Immutable after load(); any number of runs may share it, each with an arena of its own.
class Program {
 public:
  [[nodiscard]] const std::vector<ProgramOp>& ops() const { return infos_; }
  [[nodiscard]] const Graph& graph() const { return graph_; }
  // What was chosen: a plan with these entries and the layout of the one it was compiled for makes
  // the same program.
  [[nodiscard]] std::map<std::string, PlanEntry> plan_entries() const;

  // Known before anything is allocated.
  [[nodiscard]] std::size_t arena_bytes() const { return arena_bytes_; }
  [[nodiscard]] std::size_t packed_bytes() const;
  // Highest memory during load(), packed weights included.
  [[nodiscard]] std::size_t load_peak_bytes() const;
  // Highest of loading and of running.
  [[nodiscard]] std::size_t peak_bytes() const;
  // Of one run at the step rate.
  [[nodiscard]] double predicted_seconds() const;
  [[nodiscard]] double flops() const;

  // Reads every parameter once and packs it. Must succeed before the first run, which is checked.
  Status load(ParameterSource& source);

  [[nodiscard]] Result<AlignedBuffer> make_arena() const {
    return AlignedBuffer::allocate(arena_bytes_);
  }

  // Runs the ops of one rate: kVolume (once per mask; ops that depend on weights alone included) or
  // kStep. Every input that they read and every graph output must be bound. Values of the volume
  // rate stay in the arena for the steps that follow. kCancelled when the token was set; else the
  // listener's error.
  Status run(Rate rate, std::span<const Binding> bindings, const AlignedBuffer& arena,
             const RunOptions& options) const;

 private:
  friend class Compiler;

  // Where a value is: an offset in the arena, a binding, or nowhere (a parameter).
  struct Place {
    enum class Kind : std::uint8_t { kNone, kArena, kExternal };
    Kind kind = Kind::kNone;
    std::size_t offset = 0;  // kArena
    std::size_t slot = 0;    // kExternal: index into externals_
  };
  struct External {
    std::string name;
    std::size_t bytes = 0;
  };
  struct Node {
    OpId op = 0;             // in graph_
    std::size_t kernel = 0;  // in kernels_
    std::vector<Place> inputs;
    std::vector<Place> outputs;
    std::size_t workspace_offset = 0;
  };

  void add_fused_layouts(const Op& region, std::map<std::string, PlanEntry>& entries) const;
  [[nodiscard]] Result<std::vector<std::byte*>> resolve(std::span<const Binding> bindings) const;

  Graph graph_;
  Layout layout_ = Layout::kChannelsLast;         // the plan's
  std::vector<std::unique_ptr<Kernel>> kernels_;  // in the order of loading; ops may share one
  std::vector<Node> nodes_;
  std::vector<ProgramOp> infos_;
  std::vector<External> externals_;
  std::size_t arena_bytes_ = 0;
  bool loaded_ = false;
};

}  // namespace mezzotint
