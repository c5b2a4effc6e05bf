#include "report/profile_html.h"

#include "report/page.h"
#include "report/page_files.h"
#include "report/profile_json.h"

namespace mezzotint {

std::string profile_html(const Profile& profile) {
  Profile shown = profile;
  shown.trace.clear();
  const PageFiles files = page_files();
  return fill_page(
      {"profile",
       "ops",
       files.profile_html,
       {files.units, files.charts, files.profile_charts, files.tables, files.profile_script}},
      profile_json(shown));
}

}  // namespace mezzotint
