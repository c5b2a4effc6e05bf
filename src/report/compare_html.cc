#include "report/compare_html.h"

#include "report/compare_json.h"
#include "report/page.h"
#include "report/page_files.h"
#include "report/plan_comparison_json.h"

namespace mezzotint {
namespace {

std::string page_of(const std::string& json) {
  const PageFiles files = page_files();
  return fill_page(
      {"comparison",
       "ops",
       files.compare_html,
       {files.units, files.charts, files.compare_charts, files.tables, files.compare_script}},
      json);
}

}  // namespace

std::string comparison_html(const Comparison& comparison) {
  return page_of(comparison_json(comparison));
}

std::string comparison_html(const PlanComparison& comparison) {
  return page_of(comparison_json(comparison));
}

}  // namespace mezzotint
