// A study as a page to read, in one file; see report/page.h. It holds the study's JSON.
#pragma once

#include <string>

#include "report/study.h"

namespace mezzotint {

[[nodiscard]] std::string study_html(const Study& study);

}  // namespace mezzotint
