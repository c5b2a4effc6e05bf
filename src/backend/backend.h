// What a device owes: for each op a list of implementations, each of which says why not, or
// prepares a kernel whose memory needs are known before anything is allocated.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "backend/probe.h"
#include "base/thread_team.h"
#include "graph/conv_region.h"
#include "graph/cost_table.h"
#include "graph/graph.h"
#include "graph/machine.h"
#include "graph/math_unit.h"
#include "graph/op_definition.h"
#include "graph/plan.h"
#include "mezzotint/result.h"

namespace mezzotint {

enum class Device : std::uint8_t { kCpu };

// Memory of one value. Parameters have no buffer: data is null.
struct Buffer {
  std::byte* data = nullptr;
  Device device = Device::kCpu;

  template <typename T>
  [[nodiscard]] T* as() const {
    return reinterpret_cast<T*>(data);
  }
};

// Where weights come from while kernels load them.
class ParameterSource {
 public:
  virtual ~ParameterSource() = default;
  // Fills `out` (row-major float32, as many elements as the parameter's shape says).
  virtual Status read(std::string_view name, std::span<float> out) = 0;
};

struct LaunchContext {
  std::span<const Buffer> inputs;   // in the op's order
  std::span<const Buffer> outputs;  // in the op's order
  std::byte* workspace = nullptr;   // workspace_bytes(), aligned to AlignedBuffer::kAlignment
  const ThreadTeam& team;           // the caller holds a ComputeScope of it
};

// Inputs whose memory may hold output 0 as well, when nothing reads the input afterwards. An input
// that the kernel reads in a second role (a convolution's source that is its residual, too) is for
// the kernel to leave out.
using AliasableInputs = std::vector<std::size_t>;

// One op, made ready for one shape. Immutable after load(); launches are re-entrant.
class Kernel {
 public:
  virtual ~Kernel() = default;

  [[nodiscard]] virtual std::size_t workspace_bytes() const { return 0; }
  // Memory that the kernel holds after load(): packed weights.
  [[nodiscard]] virtual std::size_t packed_bytes() const { return 0; }
  // Further memory needed only during load().
  [[nodiscard]] virtual std::size_t load_bytes() const { return 0; }
  [[nodiscard]] virtual AliasableInputs aliasable_inputs() const { return {}; }
  // How many kernels one launch starts, where its tasks are not one each: calls of a library within
  // a task. 0: as many as it has tasks.
  [[nodiscard]] virtual double kernels() const { return 0; }

  // Reads and packs the op's parameters. Called once, before the first launch.
  virtual Status load(ParameterSource& /*source*/) { return {}; }
  // Computes all outputs. Never throws; inputs are not modified unless they alias output 0.
  virtual void launch(const LaunchContext& context) const = 0;
};

// What kernels are prepared for: where they run, and what they may do to float32.
struct Target {
  Machine machine;
  Precision precision = Precision::kFp32;
};

// What an implementation really does for an op, whose direct form may need more or fewer
// operations.
struct Work {
  // Multiplications and additions (a multiply-add is two) of its algorithm, transforms included.
  // Neither products with padding nor lanes of vectors that no channel fills: kernels may do both.
  double flops = 0;
  // What its row of the cost table is about: operations that would take as long at the rate of its
  // main loop as all of it does.
  double priced_flops = 0;
  double bytes = 0;                // of inputs, weights as they are stored packed, and outputs
  double packed_bytes = 0;         // of the weights alone: memory that is held between launches
  MathUnit unit = MathUnit::kFma;  // that most of the operations run on
};

// One way to compute an op. Stateless.
class Implementation {
 public:
  virtual ~Implementation() = default;

  // Stable, "room.algorithm": what plans, cost tables and --explain call it.
  [[nodiscard]] virtual std::string_view name() const = 0;
  // Why this op cannot be computed this way for this target; nothing means it can.
  [[nodiscard]] virtual std::optional<std::string> refusal(const OpView& view,
                                                           const Target& target) const = 0;
  // Call only without a refusal.
  [[nodiscard]] virtual Work work(const OpView& view, const Target& /*target*/) const {
    return {.flops = flops_without_padding(view),
            .priced_flops = flops_of(view),
            .bytes = bytes_of(view),
            .packed_bytes = parameter_bytes_of(view)};
  }
  // How many times the rounding error of a direct float32 sum its results may have: above 1 only
  // where an algorithm trades accuracy for speed. Call only without a refusal.
  [[nodiscard]] virtual double error_growth(const OpView& /*view*/) const { return 1; }
  // Call only without a refusal. Sizes are final; weights come later, by Kernel::load.
  [[nodiscard]] virtual Result<std::unique_ptr<Kernel>> prepare(const OpView& view,
                                                                const Target& target) const = 0;
};

class Backend {
 public:
  virtual ~Backend() = default;

  [[nodiscard]] virtual std::string_view name() const = 0;
  // The name, and whatever else decides the bytes of a result besides plan, target and build: the
  // libraries in use with what they chose for this processor. One line.
  [[nodiscard]] virtual std::string description() const = 0;
  // In order of preference among equals; empty when the backend lacks the op.
  [[nodiscard]] virtual std::span<const Implementation* const> implementations(
      OpKind kind) const = 0;
  [[nodiscard]] virtual const CostTable& costs() const = 0;
  // What calibration runs.
  [[nodiscard]] virtual Probes probes() const { return {}; }
};

}  // namespace mezzotint
