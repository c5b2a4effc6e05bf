// The machine a job runs on, and the memory it may use.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "backend/backend.h"
#include "graph/machine.h"
#include "mezzotint/result.h"

namespace mezzotint {

// kUnsupported on a processor without AVX2; kInvalidInput for a negative thread count.
Result<Machine> this_machine(int threads);

// The backend for it.
std::unique_ptr<Backend> this_backend();

// kResource when `predicted` bytes exceed the caller's limit or the system's.
Status check_memory(std::uint64_t predicted, std::optional<std::uint64_t> limit,
                    const Machine& machine);

// The same by the system's limit alone, where no size can be chosen.
Status check_memory(std::uint64_t predicted);

}  // namespace mezzotint
