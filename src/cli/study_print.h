// How a study looks on a terminal.
#pragma once

#include "report/study.h"

namespace mezzotint::cli {

// Two tables within kColumns, speed and structure, then the findings.
void print_study(const Study& study);

}  // namespace mezzotint::cli
