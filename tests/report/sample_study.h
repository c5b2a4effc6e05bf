// A study without a measurement: three variants and one that this machine has no unit for.
#pragma once

#include "report/study.h"

namespace mezzotint {

// The same at each call.
[[nodiscard]] Study sample_study();

}  // namespace mezzotint
