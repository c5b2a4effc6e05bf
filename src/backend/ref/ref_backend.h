// The backend "ref": one implementation, "ref.loops", that computes every op in double.
#pragma once

#include <memory>

#include "backend/backend.h"

namespace mezzotint {

// Accepts any op in any layout, with float32 and float64 values. Results are rounded once, when
// stored. Parameters are kept as float32.
[[nodiscard]] std::unique_ptr<Backend> make_ref_backend();

}  // namespace mezzotint
