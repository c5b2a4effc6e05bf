#include "support/graph_runner.h"

#include <algorithm>
#include <cstring>

#include "base/aligned_buffer.h"
#include "base/check.h"
#include "base/error.h"

namespace mezzotint::testing {
namespace {

class BoundParameters : public ParameterSource {
 public:
  explicit BoundParameters(const HostTensors& bindings) : bindings_(bindings) {}

  Status read(std::string_view name, std::span<float> out) override {
    const auto found = bindings_.find(name);
    if (found == bindings_.end() || found->second.size() != out.size()) {
      return invalid_input("parameter {} is not bound to {} elements", name, out.size());
    }
    std::copy(found->second.begin(), found->second.end(), out.begin());
    return {};
  }

 private:
  const HostTensors& bindings_;
};

// Calls visit(row-major index, offset under the type's layout) for every element.
template <typename Visit>
void for_each_offset(const ValueType& type, const Visit& visit) {
  std::vector<std::int64_t> index(type.shape.rank(), 0);
  for (std::int64_t flat = 0; flat < type.shape.elements(); ++flat) {
    visit(static_cast<std::size_t>(flat),
          static_cast<std::size_t>(element_offset(type.shape, type.layout, index.data())));
    for (std::size_t axis = index.size(); axis-- > 0 && ++index[axis] == type.shape[axis];) {
      index[axis] = 0;
    }
  }
}

AlignedBuffer allocate(std::size_t bytes) {
  Result<AlignedBuffer> buffer = AlignedBuffer::allocate(bytes);
  check(buffer.ok(), "no memory for a test tensor");
  // Whatever a kernel fails to write stays NaN.
  const std::span<std::byte> memory = buffer->as<std::byte>();
  std::fill(memory.begin(), memory.end(), std::byte{0xff});
  return *std::move(buffer);
}

Result<const Implementation*> choose(const OpView& view, const Backend& backend,
                                     const Machine& machine,
                                     const std::optional<ForcedImplementation>& forced) {
  std::string refusals;
  for (const Implementation* candidate : backend.implementations(view.op.kind)) {
    if (forced && forced->kind == view.op.kind && forced->name != candidate->name()) {
      continue;
    }
    const std::optional<std::string> refusal = candidate->refusal(view, {machine});
    if (!refusal) {
      return candidate;
    }
    refusals += fmt::format("; {}: {}", candidate->name(), *refusal);
  }
  return unsupported("{} cannot compute {} ({}){}", backend.name(), view.op.name,
                     name_of(view.op.kind), refusals);
}

Status run_op(const OpView& view, const Implementation& implementation, const Machine& machine,
              const HostTensors& bindings, std::vector<AlignedBuffer>& values,
              const ThreadTeam& team) {
  Result<std::unique_ptr<Kernel>> kernel = implementation.prepare(view, {machine});
  if (!kernel) {
    return kernel.error();
  }
  BoundParameters parameters(bindings);
  if (Status status = (*kernel)->load(parameters); !status) {
    return status;
  }
  std::vector<Buffer> inputs;
  for (const ValueId id : view.op.inputs) {
    inputs.push_back({values[id].data()});
  }
  std::vector<Buffer> outputs;
  for (const ValueId id : view.op.outputs) {
    values[id] = allocate(static_cast<std::size_t>(view.graph.value(id).type.bytes()));
    outputs.push_back({values[id].data()});
  }
  const AlignedBuffer workspace = allocate((*kernel)->workspace_bytes());
  const ComputeScope scope(team);
  (*kernel)->launch({inputs, outputs, workspace.data(), team});
  return {};
}

std::vector<float> to_host(const ValueType& type, const AlignedBuffer& buffer) {
  std::vector<float> host(static_cast<std::size_t>(type.shape.elements()));
  for_each_offset(type, [&](std::size_t flat, std::size_t offset) {
    host[flat] = type.dtype == DType::kF64 ? static_cast<float>(buffer.as<double>()[offset])
                                           : buffer.as<float>()[offset];
  });
  return host;
}

}  // namespace

Result<HostTensors> run_graph(const Graph& graph, const Backend& backend,
                              const HostTensors& bindings, const Machine& machine,
                              const std::optional<ForcedImplementation>& forced) {
  const ThreadTeam team(machine.threads);
  std::vector<AlignedBuffer> values(graph.values().size());
  for (const ValueId id : graph.inputs()) {
    const Value& value = graph.value(id);
    const auto bound = bindings.find(value.name);
    if (bound == bindings.end() ||
        static_cast<std::int64_t>(bound->second.size()) != value.type.shape.elements()) {
      return invalid_input("input {} is not bound to {} elements", value.name,
                           value.type.shape.elements());
    }
    values[id] = allocate(static_cast<std::size_t>(value.type.bytes()));
    for_each_offset(value.type, [&](std::size_t flat, std::size_t offset) {
      values[id].as<float>()[offset] = bound->second[flat];
    });
  }
  for (const Op& op : graph.ops()) {
    const OpView view{graph, op};
    const Result<const Implementation*> implementation = choose(view, backend, machine, forced);
    if (!implementation) {
      return implementation.error();
    }
    if (Status status = run_op(view, **implementation, machine, bindings, values, team); !status) {
      return status.error();
    }
  }
  HostTensors results;
  for (const ValueId id : graph.outputs()) {
    results[graph.value(id).name] = to_host(graph.value(id).type, values[id]);
  }
  return results;
}

Machine test_machine(int threads) {
  const Result<Isa> isa = detect_isa();
  check(isa.ok(), "this machine has no supported instruction set");
  return {*isa, threads, memory_limit(), processor_name(), l2_cache_bytes(), has_avx512_bf16()};
}

}  // namespace mezzotint::testing
