#include "pipeline/bench_problem.h"

#include "base/aligned_buffer.h"
#include "base/check.h"
#include "base/error.h"
#include "base/noise.h"
#include "base/system.h"
#include "pipeline/machine.h"
#include "pipeline/no_throw.h"
#include "pipeline/random_parameters.h"
#include "runtime/compile.h"

namespace mezzotint {
namespace {

constexpr std::uint64_t kSeed = 0;

CompileOptions compile_options(const Problem& problem, const Machine& machine,
                               const ProblemOptions& options) {
  CompileOptions result;
  result.machine = machine;
  result.plan.precision = options.precision;
  if (!options.implementation.empty()) {
    result.plan.entries[problem.op].implementation = options.implementation;
  }
  // The memory of inputs is the caller's; no result could take it over anyway.
  result.allow_in_place = false;
  return result;
}

std::vector<NamedShape> parameter_shapes(const Graph& graph) {
  std::vector<NamedShape> shapes;
  for (const ValueId id : graph.parameters()) {
    shapes.push_back({graph.value(id).name, graph.value(id).type.shape.dims()});
  }
  return shapes;
}

// Memory for the problem's inputs, filled with noise, and for its results.
class Memory {
 public:
  Status bind(const Graph& graph, const ThreadTeam& team) {
    std::uint32_t stream = 0;
    for (const ValueId id : graph.inputs()) {
      if (Status status = add(graph.value(id)); !status) {
        return status;
      }
      fill_normal({kSeed, 0, stream++}, buffers_.back().as<float>(), team);
    }
    for (const ValueId id : graph.outputs()) {
      if (Status status = add(graph.value(id)); !status) {
        return status;
      }
    }
    return {};
  }

  [[nodiscard]] std::span<const Binding> bindings() const { return bindings_; }

 private:
  Status add(const Value& value) {
    const auto bytes = static_cast<std::size_t>(value.type.bytes());
    auto buffer = AlignedBuffer::allocate(bytes);
    if (!buffer) {
      return buffer.error();
    }
    bindings_.push_back({value.name, buffer->data(), bytes});
    buffers_.push_back(std::move(*buffer));
    return {};
  }

  std::vector<AlignedBuffer> buffers_;
  std::vector<Binding> bindings_;
};

std::uint64_t needed_bytes(const Graph& graph, const Program& program) {
  std::uint64_t total = program.arena_bytes() + program.load_peak_bytes();
  for (const auto& ids : {graph.inputs(), graph.outputs()}) {
    for (const ValueId id : ids) {
      total += static_cast<std::uint64_t>(graph.value(id).type.bytes());
    }
  }
  return total;
}

Result<ProblemReport> measure_problem(const Problem& problem, const Backend& backend,
                                      const Machine& machine, const ProblemOptions& options,
                                      const CancelToken* cancel) {
  const auto graph = build_problem(problem);
  if (!graph) {
    return graph.error();
  }
  auto program = compile(*graph, backend, compile_options(problem, machine, options));
  if (!program) {
    return program.error();
  }
  if (Status status = check_memory(resident_bytes() + needed_bytes(*graph, *program),
                                   options.memory_limit, machine);
      !status) {
    return status.error();
  }
  reset_peak_resident_bytes();
  const ThreadTeam team(machine.threads);
  RandomParameters parameters(parameter_shapes(*graph), kSeed);
  if (Status status = program->load(parameters); !status) {
    return status.error();
  }
  const auto arena = program->make_arena();
  if (!arena) {
    return arena.error();
  }
  Memory memory;
  if (Status status = memory.bind(*graph, team); !status) {
    return status.error();
  }

  OpCheck judge(parameters, team);
  Listener* const listeners[] = {&judge};
  if (Status status =
          program->run(Rate::kStep, memory.bindings(), *arena, {team, cancel, listeners});
      !status) {
    return status.error();
  }
  ProblemReport report;
  report.problem = to_string(problem);
  report.implementation = program->ops()[0].implementation;
  report.verdict = judge.worst();
  report.flops = program->ops()[0].flops;
  report.bytes = program->ops()[0].bytes;
  if (report.verdict.ok()) {
    const auto timing = measure(options.timing, [&](bool /*counts*/) {
      return program->run(Rate::kStep, memory.bindings(), *arena, {team, cancel, {}});
    });
    if (!timing) {
      return timing.error();
    }
    report.timing = *timing;
  }
  report.peak_bytes = peak_resident_bytes();
  return report;
}

}  // namespace

Result<ProblemReport> bench_problem(const Problem& problem, const Backend& backend,
                                    const Machine& machine, const ProblemOptions& options,
                                    const CancelToken* cancel) {
  return no_throw([&] { return measure_problem(problem, backend, machine, options, cancel); });
}

Result<ProgramExplanation> explain_problem(const Problem& problem, const Backend& backend,
                                           const Machine& machine, const ProblemOptions& options) {
  const auto graph = build_problem(problem);
  if (!graph) {
    return graph.error();
  }
  return explain(*graph, backend, compile_options(problem, machine, options));
}

}  // namespace mezzotint
