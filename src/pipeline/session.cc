#include "pipeline/session.h"

#include <algorithm>
#include <limits>

#include "base/check.h"
#include "base/checked.h"
#include "base/error.h"
#include "base/sha256.h"
#include "imaging/volume.h"
#include "passes/passes.h"
#include "pipeline/machine.h"

namespace mezzotint {
namespace {

std::byte* bytes_of(std::span<const float> values) {
  return reinterpret_cast<std::byte*>(const_cast<float*>(values.data()));
}

// What the process holds besides: code, libraries, the index of a checkpoint. 20 MB are measured.
// It is a constant, since what is measured differs from run to run, and a plan must not.
constexpr std::uint64_t kProcessBytes = 32'000'000;

// One activation of the finest level: the least that any run holds.
Status check_floor(const MedDdpmConfig& config, const SessionOptions& options) {
  const std::int64_t dims[] = {config.base_channels, options.grid[0], options.grid[1],
                               options.grid[2]};
  const auto elements = checked_elements(dims);
  const auto bytes = elements
                         ? checked_multiply(static_cast<std::uint64_t>(*elements), sizeof(float))
                         : std::nullopt;
  return check_memory(bytes.value_or(std::numeric_limits<std::uint64_t>::max()),
                      options.memory_limit, options.machine);
}

// What is left for a program where the session's caller and the session hold `others`.
std::optional<std::uint64_t> program_limit(const SessionOptions& options, std::uint64_t others) {
  std::optional<std::uint64_t> limit = options.memory_limit;
  if (const std::uint64_t machine = options.machine.memory_bytes; machine != 0) {
    limit = std::min(limit.value_or(machine), machine);
  }
  if (!limit) {
    return std::nullopt;
  }
  others += kProcessBytes + options.further_bytes;
  return *limit > others ? *limit - others : 0;
}

}  // namespace

Result<Graph> tabulated_network(const MedDdpmConfig& config,
                                const std::array<std::int64_t, 3>& grid, std::int64_t steps) {
  auto graph = build_med_ddpm(config, /*batch=*/1, {grid[2], grid[1], grid[0]});
  return graph ? tabulate_steps(*graph, "t", steps) : graph;
}

Result<Session> Session::create(const MedDdpmConfig& config, const Backend& backend,
                                const SessionOptions& options) {
  if (Status status = check_floor(config, options); !status) {
    return status.error();
  }
  check(!options.timesteps.empty(), "a session without timesteps");
  auto graph =
      tabulated_network(config, options.grid, static_cast<std::int64_t>(options.timesteps.size()));
  if (!graph) {
    return graph.error();
  }
  // The prediction itself is an output already.
  std::vector<std::string> keep = options.keep;
  std::erase_if(keep, [&](const std::string& name) {
    return graph->find_value(name) == graph->outputs()[0];
  });
  Session session;
  session.graph_ = std::move(*graph);
  for (const std::string& name : keep) {
    // What is no value is for compile() to refuse.
    if (const auto id = session.graph_.find_value(name)) {
      session.kept_.push_back({name, session.graph_.value(*id).type.shape, {}});
    }
  }
  const std::int64_t bound = 2 * session.elements() + session.condition_elements();
  const std::uint64_t others =
      static_cast<std::uint64_t>(bound) * sizeof(float) + session.kept_bytes();
  auto program = compile(session.graph_, backend,
                         {options.machine, options.plan, keep, options.allow_in_place,
                          program_limit(options, others)});
  if (!program) {
    return program.error();
  }
  session.options_ = options;
  session.backend_ = backend.description();
  session.program_ = std::move(*program);
  session.timesteps_.assign(options.timesteps.begin(), options.timesteps.end());
  return session;
}

std::int64_t Session::elements() const {
  return graph_.value(*graph_.find_value("x")).type.shape.elements();
}

std::int64_t Session::condition_elements() const {
  return graph_.value(*graph_.find_value("condition")).type.shape.elements();
}

std::uint64_t Session::kept_bytes() const {
  std::uint64_t bytes = 0;
  for (const KeptActivation& kept : kept_) {
    bytes += static_cast<std::uint64_t>(kept.shape.elements()) * sizeof(float);
  }
  return bytes;
}

std::uint64_t Session::predicted_bytes() const {
  return std::max<std::uint64_t>(program_.load_peak_bytes(),
                                 program_.packed_bytes() + program_.arena_bytes() + kept_bytes());
}

std::string Session::plan_hash() const {
  std::string text = fmt::format("{}\n{} {}\n", backend_, static_cast<int>(options_.plan.precision),
                                 name_of(options_.machine.isa));
  for (const auto& [op, entry] : program_.plan_entries()) {
    text += fmt::format("{}={}{}\n", op, entry.implementation,
                        entry.fuse ? fmt::format(" with {}", describe(*entry.fuse)) : "");
  }
  return sha256_hex(std::as_bytes(std::span(text)));
}

Status Session::load(ParameterSource& parameters) {
  if (Status status = program_.load(parameters); !status) {
    return status.error();
  }
  auto arena = program_.make_arena();
  if (!arena) {
    return arena.error();
  }
  arena_ = std::move(*arena);
  for (KeptActivation& kept : kept_) {
    kept.data.resize(static_cast<std::size_t>(kept.shape.elements()));
  }
  return {};
}

std::vector<Binding> Session::bindings() {
  std::vector<Binding> bindings{{"condition", bytes_of(condition_), condition_.size_bytes()},
                                {"t", bytes_of(timesteps_), timesteps_.size() * sizeof(float)}};
  for (KeptActivation& kept : kept_) {
    bindings.push_back({kept.name, bytes_of(kept.data), kept.data.size() * sizeof(float)});
  }
  return bindings;
}

Status Session::set_condition(std::span<const float> condition, const RunOptions& run) {
  condition_ = condition;
  return program_.run(Rate::kVolume, bindings(), arena_, run);
}

Status Session::evaluate(std::span<const float> x, int step, std::span<float> eps,
                         const RunOptions& run) {
  check(!condition_.empty(), "set_condition comes before evaluate");
  check(step >= 0 && step < static_cast<int>(timesteps_.size()), "evaluate: no such step");
  step_ = step;
  std::vector<Binding> bound = bindings();
  bound.push_back({"x", bytes_of(x), x.size_bytes()});
  bound.push_back({"step", reinterpret_cast<std::byte*>(&step_), sizeof(step_)});
  bound.push_back({graph_.value(graph_.outputs()[0]).name, bytes_of(eps), eps.size_bytes()});
  return program_.run(Rate::kStep, bound, arena_, run);
}

}  // namespace mezzotint
