#include "pipeline/dump.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <string>

#include "base/error.h"
#include "base/quote.h"
#include "base/system.h"
#include "formats/safetensors.h"
#include "mezzotint/version.h"
#include "pipeline/machine.h"
#include "pipeline/no_throw.h"
#include "pipeline/outputs.h"
#include "pipeline/session.h"

namespace mezzotint {
namespace {

constexpr std::string_view kAll = "all";

struct Activation {
  std::string name;
  Shape shape;
  std::vector<float> data;  // row-major
};

std::vector<float> to_row_major(const ValueType& type, const float* data) {
  const Shape& shape = type.shape;
  std::vector<float> result(static_cast<std::size_t>(shape.elements()));
  std::vector<std::int64_t> index(shape.rank(), 0);
  for (float& value : result) {
    value = data[element_offset(shape, type.layout, index.data())];
    for (std::size_t axis = index.size(); axis-- > 0 && ++index[axis] == shape[axis];) {
      index[axis] = 0;
    }
  }
  return result;
}

// Copies every activation that a program makes and that the network as built has, too; rows of a
// table of time vectors are in the table.
class Recorder final : public Listener {
 public:
  explicit Recorder(const Graph& built) : built_(built) {}

  Status on_op(const OpEvent& event) override {
    const Value& value = event.view.output();
    if (value.type.dtype != DType::kF32 || event.op.kind == OpKind::group_norm_coefficients ||
        event.op.kind == OpKind::select_rows) {
      return {};
    }
    if (const auto name = name_in_built(event.view)) {
      const bool known = std::any_of(activations_.begin(), activations_.end(),
                                     [&](const Activation& a) { return a.name == *name; });
      if (!known) {
        activations_.push_back(
            {*name, value.type.shape, to_row_major(value.type, event.outputs[0].as<float>())});
      }
    }
    return {};
  }

  [[nodiscard]] std::vector<Activation>& activations() { return activations_; }

 private:
  // A region bears its convolution's name, but what it makes is the result of the last op fused
  // into it, whose name has become an alias.
  [[nodiscard]] std::optional<std::string> name_in_built(const OpView& view) const {
    const ValueId made = view.op.outputs[0];
    for (const auto& [alias, id] : view.graph.aliases()) {
      const auto built = id == made ? built_.find_value(alias) : std::nullopt;
      if (built && built_.value(*built).name == alias) {
        return alias;
      }
    }
    const bool in_built = built_.find_value(view.op.name).has_value();
    return in_built ? std::optional(view.op.name) : std::nullopt;
  }

  const Graph& built_;
  std::vector<Activation> activations_;
};

// Kept activations under the names they were asked for, in the order in which they are made.
std::vector<Activation> kept_in_order(Session& session) {
  std::vector<Activation> result;
  for (KeptActivation& kept : session.take_kept()) {
    result.push_back({std::move(kept.name), kept.shape, std::move(kept.data)});
  }
  const auto made = [&](const Activation& activation) {
    return *session.graph().find_value(activation.name);
  };
  std::stable_sort(result.begin(), result.end(),
                   [&](const Activation& a, const Activation& b) { return made(a) < made(b); });
  return result;
}

std::string implementations_of(const Program& program) {
  std::vector<std::string> entries;
  for (const ProgramOp& op : program.ops()) {
    entries.push_back(fmt::format("{}={}", op.name, op.implementation));
  }
  return fmt::format("{}", fmt::join(entries, " "));
}

std::map<std::string, std::string> metadata_of(const Subject& subject, const Machine& machine,
                                               const DumpOptions& options, const Program& program,
                                               const std::vector<Activation>& activations) {
  std::vector<std::string> order;
  for (const Activation& activation : activations) {
    order.push_back(activation.name);
  }
  return {{"order", fmt::format("{}", fmt::join(order, " "))},
          {"model", subject.name()},
          {"model_sha256", subject.hash()},
          {"size", fmt::format("{}", fmt::join(subject.grid(), " "))},
          {"t", std::to_string(subject.timestep())},
          {"precision", std::string(name_of(options.precision))},
          {"isa", std::string(name_of(machine.isa))},
          {"threads", std::to_string(machine.threads)},
          {"version", kVersion},
          {"implementations", implementations_of(program)}};
}

Status write(const Subject& subject, const std::vector<Activation>& activations,
             const std::map<std::string, std::string>& metadata, OutputFile& out) {
  const auto& grid = subject.grid();
  const auto volume = [&](std::int64_t channels) {
    return std::vector<std::int64_t>{1, channels, grid[2], grid[1], grid[0]};
  };
  const auto timestep = static_cast<float>(subject.timestep());
  std::vector<TensorToWrite> tensors{
      {"x", DType::kF32, volume(subject.config().image_channels),
       std::as_bytes(std::span(subject.x()))},
      {"condition", DType::kF32, volume(subject.config().condition_channels),
       std::as_bytes(std::span(subject.condition()))},
      {"t", DType::kF32, {1}, std::as_bytes(std::span(&timestep, 1))}};
  for (const Activation& activation : activations) {
    tensors.push_back({activation.name, DType::kF32, activation.shape.dims(),
                       std::as_bytes(std::span(activation.data))});
  }
  return write_safetensors(out, tensors, metadata);
}

// Before anything is compiled: what the user can name is a result of the network as built.
Status check_names(const Subject& subject, const std::vector<std::string>& names) {
  const auto& grid = subject.grid();
  const auto graph = build_med_ddpm(subject.config(), /*batch=*/1, {grid[2], grid[1], grid[0]});
  if (!graph) {
    return graph.error();
  }
  for (const std::string& name : names) {
    const auto id = graph->find_value(name);
    if (!id) {
      return invalid_input("dump: {}: the model has no such op or module", in_quotes(name));
    }
    const Value& value = graph->value(*id);
    if (value.kind != ValueKind::kResult) {
      return invalid_input("dump: {} is not a result: name an op or a module, or all",
                           in_quotes(name));
    }
    if (value.type.dtype != DType::kF32) {
      return invalid_input("dump: {} is {}, only float32 results can be written", in_quotes(name),
                           name_of(value.type.dtype));
    }
  }
  return {};
}

// What a recorder holds at most: a copy of every result.
std::uint64_t recorded_bytes(const Program& program) {
  std::uint64_t bytes = 0;
  for (const Op& op : program.graph().ops()) {
    for (const ValueId id : op.outputs) {
      bytes += static_cast<std::uint64_t>(program.graph().value(id).type.bytes());
    }
  }
  return bytes;
}

Status dump(Subject& subject, const Backend& backend, const Machine& machine,
            const DumpOptions& options, const std::filesystem::path& path,
            const CancelToken* cancel) {
  if (Status status = check_outputs_spare_inputs(std::span(&path, 1), subject.files()); !status) {
    return status;
  }
  const bool all = options.names == std::vector<std::string>{std::string(kAll)};
  SessionOptions session_options;
  session_options.machine = machine;
  session_options.plan.precision = options.precision;
  session_options.grid = subject.grid();
  session_options.timesteps = {subject.timestep()};
  session_options.memory_limit = options.memory_limit;
  if (!all) {
    if (Status status = check_names(subject, options.names); !status) {
      return status;
    }
    session_options.keep = options.names;
  }
  auto session = Session::create(subject.config(), backend, session_options);
  if (!session) {
    return session.error();
  }
  // x and eps, the condition, and copies of the activations.
  const auto floats =
      static_cast<std::uint64_t>(2 * session->elements() + session->condition_elements());
  const std::uint64_t predicted = resident_bytes() + session->predicted_bytes() +
                                  floats * sizeof(float) +
                                  (all ? recorded_bytes(session->program()) : 0);
  if (Status status = check_memory(predicted, options.memory_limit, machine); !status) {
    return status;
  }
  auto out = OutputFile::create(path, options.overwrite, 0);
  if (!out) {
    return out.error();
  }
  const ThreadTeam team(machine.threads);
  if (Status status = subject.make_inputs(team); !status) {
    return status;
  }
  if (Status status = session->load(subject.parameters()); !status) {
    return status;
  }
  Recorder recorder(session->graph());
  std::vector<Listener*> listeners;
  if (all) {
    listeners.push_back(&recorder);
  }
  if (Status status = session->set_condition(subject.condition(), {team, cancel, listeners});
      !status) {
    return status;
  }
  std::vector<float> eps(static_cast<std::size_t>(session->elements()));
  if (Status status = session->evaluate(subject.x(), /*step=*/0, eps, {team, cancel, listeners});
      !status) {
    return status;
  }
  std::vector<Activation> activations =
      all ? std::move(recorder.activations()) : kept_in_order(*session);
  for (const std::string& name : options.names) {
    // The prediction itself is no kept activation.
    const auto id = session->graph().find_value(name);
    if (id == session->graph().outputs()[0]) {
      activations.push_back({name, session->graph().value(*id).type.shape, eps});
    }
  }
  if (Status status =
          write(subject, activations,
                metadata_of(subject, machine, options, session->program(), activations), *out);
      !status) {
    return status;
  }
  return out->commit();
}

}  // namespace

Status dump_activations(Subject& subject, const Backend& backend, const Machine& machine,
                        const DumpOptions& options, const std::filesystem::path& out,
                        const CancelToken* cancel) {
  return no_throw([&] { return dump(subject, backend, machine, options, out, cancel); });
}

}  // namespace mezzotint
