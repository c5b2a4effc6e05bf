// The probes of this room.
#pragma once

#include <memory>
#include <vector>

#include "backend/probe.h"

namespace mezzotint::kernels {

// One for each MathUnit.
[[nodiscard]] std::vector<std::unique_ptr<UnitProbe>> make_unit_probes();
[[nodiscard]] std::unique_ptr<StreamProbe> make_stream_probe();

}  // namespace mezzotint::kernels
