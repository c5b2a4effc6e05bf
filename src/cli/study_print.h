// How a study looks on a terminal, and for machines.
#pragma once

#include "pipeline/study.h"

namespace mezzotint::cli {

// Two tables within kColumns, speed and structure, then the findings.
void print_study(const Study& study);
void print_study_json(const Study& study);

}  // namespace mezzotint::cli
