// A comparison as JSON of schema Comparison::kSchema; docs/formats.md gives its keys.
#pragma once

#include <string>

#include "report/compare.h"

namespace mezzotint {

[[nodiscard]] std::string comparison_json(const Comparison& comparison);

}  // namespace mezzotint
