// The files of src/report/html/ and Vega, as they were when this was built.
#pragma once

#include <string_view>

namespace mezzotint {

struct PageFiles {
  std::string_view frame;  // of each page
  // Their sections.
  std::string_view profile_html;
  std::string_view compare_html;
  std::string_view study_html;
  std::string_view css;
  // Scripts; each needs those before it that all pages share.
  std::string_view units;
  std::string_view charts;
  std::string_view profile_charts;
  std::string_view compare_charts;
  std::string_view study_charts;
  std::string_view tables;
  std::string_view profile_script;
  std::string_view compare_script;
  std::string_view study_script;
  std::string_view vega;  // one script that defines `vega`
};

[[nodiscard]] PageFiles page_files();

}  // namespace mezzotint
