#include "report/page_files.h"

#include <cstddef>

// Defined in page.S.in.
extern "C" {
extern const char mezzotint_page_frame[];
extern const char mezzotint_page_frame_end[];
extern const char mezzotint_page_profile_html[];
extern const char mezzotint_page_profile_html_end[];
extern const char mezzotint_page_compare_html[];
extern const char mezzotint_page_compare_html_end[];
extern const char mezzotint_page_study_html[];
extern const char mezzotint_page_study_html_end[];
extern const char mezzotint_page_css[];
extern const char mezzotint_page_css_end[];
extern const char mezzotint_page_units[];
extern const char mezzotint_page_units_end[];
extern const char mezzotint_page_charts[];
extern const char mezzotint_page_charts_end[];
extern const char mezzotint_page_profile_charts[];
extern const char mezzotint_page_profile_charts_end[];
extern const char mezzotint_page_compare_charts[];
extern const char mezzotint_page_compare_charts_end[];
extern const char mezzotint_page_study_charts[];
extern const char mezzotint_page_study_charts_end[];
extern const char mezzotint_page_tables[];
extern const char mezzotint_page_tables_end[];
extern const char mezzotint_page_profile_script[];
extern const char mezzotint_page_profile_script_end[];
extern const char mezzotint_page_compare_script[];
extern const char mezzotint_page_compare_script_end[];
extern const char mezzotint_page_study_script[];
extern const char mezzotint_page_study_script_end[];
extern const char mezzotint_page_vega[];
extern const char mezzotint_page_vega_end[];
}

namespace mezzotint {
namespace {

std::string_view between(const char* begin, const char* end) {
  return {begin, static_cast<std::size_t>(end - begin)};
}

}  // namespace

PageFiles page_files() {
  return {
      .frame = between(mezzotint_page_frame, mezzotint_page_frame_end),
      .profile_html = between(mezzotint_page_profile_html, mezzotint_page_profile_html_end),
      .compare_html = between(mezzotint_page_compare_html, mezzotint_page_compare_html_end),
      .study_html = between(mezzotint_page_study_html, mezzotint_page_study_html_end),
      .css = between(mezzotint_page_css, mezzotint_page_css_end),
      .units = between(mezzotint_page_units, mezzotint_page_units_end),
      .charts = between(mezzotint_page_charts, mezzotint_page_charts_end),
      .profile_charts = between(mezzotint_page_profile_charts, mezzotint_page_profile_charts_end),
      .compare_charts = between(mezzotint_page_compare_charts, mezzotint_page_compare_charts_end),
      .study_charts = between(mezzotint_page_study_charts, mezzotint_page_study_charts_end),
      .tables = between(mezzotint_page_tables, mezzotint_page_tables_end),
      .profile_script = between(mezzotint_page_profile_script, mezzotint_page_profile_script_end),
      .compare_script = between(mezzotint_page_compare_script, mezzotint_page_compare_script_end),
      .study_script = between(mezzotint_page_study_script, mezzotint_page_study_script_end),
      .vega = between(mezzotint_page_vega, mezzotint_page_vega_end)};
}

}  // namespace mezzotint
