// A model, compiled for one grid and the timesteps of a run, ready to predict noise.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "backend/backend.h"
#include "base/aligned_buffer.h"
#include "graph/machine.h"
#include "graph/plan.h"
#include "mezzotint/cancel.h"
#include "models/med_ddpm.h"
#include "runtime/compile.h"
#include "runtime/program.h"

namespace mezzotint {

struct SessionOptions {
  Machine machine;
  Plan plan;
  std::array<std::int64_t, 3> grid{};  // x, y, z
  std::vector<int> timesteps;          // every one that a run will visit, at least one
  std::vector<std::string> keep;       // activations that evaluate() hands out besides eps, which
                                       // may be named and is left out
  bool allow_in_place = true;          // CompileOptions::allow_in_place
  // Bytes, of the whole process. What the machine has is a limit, too; where the fastest program
  // exceeds them, a smaller one is made (CompileOptions::memory_limit).
  std::optional<std::uint64_t> memory_limit;
  // What the caller will hold besides the session, x, the condition and the prediction.
  std::uint64_t further_bytes = 0;
};

// An activation that was asked for with SessionOptions::keep, row-major.
struct KeptActivation {
  std::string name;
  Shape shape;
  std::vector<float> data;
};

// The network for one volume on `grid` (x, y, z) as a session compiles it: with what follows from
// the timestep alone in tables of `steps` rows.
Result<Graph> tabulated_network(const MedDdpmConfig& config,
                                const std::array<std::int64_t, 3>& grid, std::int64_t steps);

class Session {
 public:
  // Compiles; reads no weight and allocates nothing large. kResource when even one activation of
  // the finest level exceeds the limit or the machine: such a grid is not worth compiling for.
  static Result<Session> create(const MedDdpmConfig& config, const Backend& backend,
                                const SessionOptions& options);

  [[nodiscard]] const Program& program() const { return program_; }
  [[nodiscard]] const Graph& graph() const { return graph_; }
  // Values of x and of eps: image channels times voxels.
  [[nodiscard]] std::int64_t elements() const;
  // The same for the condition.
  [[nodiscard]] std::int64_t condition_elements() const;
  // Highest memory of loading and of running, beyond what the process holds already; kept
  // activations included.
  [[nodiscard]] std::uint64_t predicted_bytes() const;
  // Identifies what decides the bytes of a result: backend, precision, ISA and each op's
  // implementation, but not in which order ops run or which run twice. SHA-256, hexadecimal.
  [[nodiscard]] std::string plan_hash() const;
  // Backend::description() of the backend that it was compiled for.
  [[nodiscard]] const std::string& backend() const { return backend_; }

  // Reads and packs the weights, then allocates the arena and what kept activations need.
  Status load(ParameterSource& parameters);

  // Once per mask: channels [C, z, y, x], which must stay alive while steps are evaluated. Makes
  // the time vectors of all steps, too.
  Status set_condition(std::span<const float> condition, const RunOptions& run);

  // eps = the network's prediction for x at SessionOptions::timesteps[step].
  Status evaluate(std::span<const float> x, int step, std::span<float> eps, const RunOptions& run);

  // Those of the last evaluation, without the session's own copy: no further one may follow.
  [[nodiscard]] std::vector<KeptActivation> take_kept() { return std::move(kept_); }

 private:
  [[nodiscard]] std::uint64_t kept_bytes() const;
  // What both rates read and write.
  std::vector<Binding> bindings();

  Graph graph_;  // before lowering
  SessionOptions options_;
  std::string backend_;  // its description
  Program program_;
  AlignedBuffer arena_;
  std::span<const float> condition_;
  std::vector<float> timesteps_;
  std::int32_t step_ = 0;
  std::vector<KeptActivation> kept_;
};

}  // namespace mezzotint
