// The backend "cpu": oneDNN's convolutions and our own kernels.
#pragma once

#include <memory>

#include "backend/backend.h"

namespace mezzotint {

// Float32, channels-last activations. Results do not depend on the number of threads.
[[nodiscard]] std::unique_ptr<Backend> make_cpu_backend();

}  // namespace mezzotint
