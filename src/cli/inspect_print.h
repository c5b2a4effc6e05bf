// How the report of mezzotint inspect looks: for a person on stdout, or as one JSON object.
#pragma once

#include "pipeline/inspect.h"

namespace mezzotint::cli {

void print_report(const InspectReport& report);
void print_report_json(const InspectReport& report);

}  // namespace mezzotint::cli
