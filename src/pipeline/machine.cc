#include "pipeline/machine.h"

#include "backend/cpu/cpu_backend.h"
#include "base/error.h"
#include "base/figures.h"
#include "base/system.h"
#include "base/thread_team.h"

namespace mezzotint {

Result<Machine> this_machine(int threads) {
  constexpr int kMostThreads = 1024;
  if (threads < 0 || threads > kMostThreads) {
    return invalid_input("threads: {} is not between 0 (all processors) and {}", threads,
                         kMostThreads);
  }
  const auto isa = detect_isa();
  if (!isa) {
    return isa.error();
  }
  return Machine{*isa,
                 ThreadTeam(threads).size(),
                 memory_limit(),
                 processor_name(),
                 l2_cache_bytes(),
                 has_avx512_bf16()};
}

std::unique_ptr<Backend> this_backend() {
  return make_cpu_backend();
}

Status check_memory(std::uint64_t predicted, std::optional<std::uint64_t> limit,
                    const Machine& machine) {
  if (limit && predicted > *limit) {
    return resource_error(
        "needs {} of memory, --memory-limit allows {}: raise the limit or choose a smaller --size",
        format_bytes(predicted), format_bytes(*limit));
  }
  if (machine.memory_bytes != 0 && predicted > machine.memory_bytes) {
    return resource_error(
        "needs {} of memory, this machine (or its cgroup) allows {}: choose a smaller --size or a "
        "larger machine",
        format_bytes(predicted), format_bytes(machine.memory_bytes));
  }
  return {};
}

Status check_memory(std::uint64_t predicted) {
  const std::uint64_t limit = memory_limit();
  if (limit != 0 && predicted > limit) {
    return resource_error("needs {} of memory, this machine (or its cgroup) allows {}",
                          format_bytes(predicted), format_bytes(limit));
  }
  return {};
}

}  // namespace mezzotint
