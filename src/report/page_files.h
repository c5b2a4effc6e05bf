// The files of src/report/html/ and Vega, as they were when this was built.
#pragma once

#include <string_view>

namespace mezzotint {

struct PageFiles {
  std::string_view html;  // with {{style}}, {{vega}}, {{script}} and {{profile}}, each once
  std::string_view css;
  std::string_view units;  // scripts, in this order
  std::string_view charts;
  std::string_view script;
  std::string_view vega;  // one script that defines `vega`
};

[[nodiscard]] PageFiles page_files();

}  // namespace mezzotint
