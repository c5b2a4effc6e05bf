#include "report/study_html.h"

#include "report/page.h"
#include "report/page_files.h"
#include "report/study_json.h"

namespace mezzotint {

std::string study_html(const Study& study) {
  const PageFiles files = page_files();
  return fill_page(
      {"study",
       "variants",
       files.study_html,
       {files.units, files.charts, files.study_charts, files.tables, files.study_script}},
      study_json(study));
}

}  // namespace mezzotint
