// A study as the JSON of docs/formats.md.
#pragma once

#include <string>

#include "report/study.h"

namespace mezzotint {

// Ends with a line feed. What is no UTF-8 in a name is replaced.
[[nodiscard]] std::string study_json(const Study& study);

}  // namespace mezzotint
