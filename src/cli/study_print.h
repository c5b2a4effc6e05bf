// How a study looks on a terminal.
#pragma once

#include <cstddef>

#include "report/study.h"

namespace mezzotint::cli {

// Two tables within kColumns, speed and structure, then the findings. The first `said` warnings of
// each variant are on stderr already.
void print_study(const Study& study, std::size_t said);

}  // namespace mezzotint::cli
