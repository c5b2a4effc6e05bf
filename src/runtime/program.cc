#include "runtime/program.h"

#include <algorithm>
#include <chrono>

#include "base/cancel.h"
#include "base/check.h"
#include "base/error.h"
#include "graph/conv_region.h"
#include "runtime/layouts.h"

namespace mezzotint {

std::map<std::string, PlanEntry> Program::plan_entries() const {
  std::map<std::string, PlanEntry> entries;
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    const Op& op = graph_.op(nodes_[i].op);
    if (infos_[i].is_repeated) {
      continue;
    }
    PlanEntry& entry = entries[op.name];
    entry.implementation = infos_[i].implementation;
    const auto layout = activation_layout({graph_, op});
    if (layout && *layout != layout_) {
      entry.layout = layout;
    }
    if (op.kind == OpKind::conv3d || op.kind == OpKind::region) {
      entry.fuse = fusions_of(op);
      add_fused_layouts(op, entries);
    }
  }
  return entries;
}

// What a region took has its layout, too, but nothing else to say.
void Program::add_fused_layouts(const Op& region, std::map<std::string, PlanEntry>& entries) const {
  if (region.body == nullptr) {
    return;
  }
  for (const Op& op : region.body->ops()) {
    const auto layout = activation_layout({*region.body, op});
    if (op.name != region.name && layout && *layout != layout_) {
      entries[op.name].layout = layout;
    }
  }
}

std::size_t Program::packed_bytes() const {
  std::size_t total = 0;
  for (const auto& kernel : kernels_) {
    total += kernel->packed_bytes();
  }
  return total;
}

std::size_t Program::load_peak_bytes() const {
  std::size_t packed = 0;
  std::size_t peak = 0;
  for (const auto& kernel : kernels_) {
    packed += kernel->packed_bytes();
    peak = std::max(peak, packed + kernel->load_bytes());
  }
  return peak;
}

std::size_t Program::peak_bytes() const {
  return std::max(load_peak_bytes(), packed_bytes() + arena_bytes_);
}

double Program::predicted_seconds() const {
  double total = 0;
  for (const ProgramOp& op : infos_) {
    total += op.rate == Rate::kStep ? op.predicted_seconds : 0;
  }
  return total;
}

double Program::flops() const {
  double total = 0;
  for (const ProgramOp& op : infos_) {
    total += op.rate == Rate::kStep ? op.flops : 0;
  }
  return total;
}

Status Program::load(ParameterSource& source) {
  for (const auto& kernel : kernels_) {
    if (Status status = kernel->load(source); !status) {
      return status.error();
    }
  }
  loaded_ = true;
  return {};
}

Result<std::vector<std::byte*>> Program::resolve(std::span<const Binding> bindings) const {
  std::vector<std::byte*> pointers(externals_.size(), nullptr);
  for (const Binding& binding : bindings) {
    const auto found =
        std::find_if(externals_.begin(), externals_.end(),
                     [&](const External& external) { return external.name == binding.name; });
    if (found == externals_.end()) {
      return invalid_input("binding {}: the graph has no such input or output", binding.name);
    }
    if (binding.bytes != found->bytes) {
      return invalid_input("binding {}: {} bytes, expected {}", binding.name, binding.bytes,
                           found->bytes);
    }
    pointers[static_cast<std::size_t>(found - externals_.begin())] = binding.data;
  }
  return pointers;
}

Status Program::run(Rate rate, std::span<const Binding> bindings, const AlignedBuffer& arena,
                    const RunOptions& options) const {
  check(loaded_, "a program ran before load()");
  check(arena.size() >= arena_bytes_, "the arena is smaller than the program needs");
  const auto externals = resolve(bindings);
  if (!externals) {
    return externals.error();
  }
  std::string unbound;
  const auto buffer_at = [&](const Place& place) {
    Buffer buffer;
    if (place.kind == Place::Kind::kArena) {
      buffer.data = arena.data() + place.offset;
    } else if (place.kind == Place::Kind::kExternal) {
      buffer.data = (*externals)[place.slot];
      if (buffer.data == nullptr) {
        unbound = externals_[place.slot].name;
      }
    }
    return buffer;
  };

  const ComputeScope scope(options.team);
  const bool steps = rate == Rate::kStep;
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    const Node& node = nodes_[i];
    if ((infos_[i].rate == Rate::kStep) != steps) {
      continue;
    }
    if (stop_requested(options.cancel)) {
      return stopped();
    }
    std::vector<Buffer> inputs(node.inputs.size());
    std::vector<Buffer> outputs(node.outputs.size());
    std::transform(node.inputs.begin(), node.inputs.end(), inputs.begin(), buffer_at);
    std::transform(node.outputs.begin(), node.outputs.end(), outputs.begin(), buffer_at);
    if (!unbound.empty()) {
      return invalid_input("op {} needs {}, which is not bound", infos_[i].name, unbound);
    }
    for (Listener* listener : options.listeners) {
      listener->before_op(infos_[i]);
    }
    const auto start = std::chrono::steady_clock::now();
    kernels_[node.kernel]->launch(
        {inputs, outputs, arena.data() + node.workspace_offset, options.team});
    const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
    const OpEvent event{infos_[i], {graph_, graph_.op(node.op)}, inputs, outputs, elapsed.count()};
    for (Listener* listener : options.listeners) {
      if (Status status = listener->on_op(event); !status) {
        return status.error();
      }
    }
  }
  return {};
}

}  // namespace mezzotint
