#include "report/page.h"

#include <array>
#include <utility>

#include "base/check.h"
#include "report/page_files.h"

namespace mezzotint {
namespace {

// JSON for the inside of a script element: without a '<', nothing there can end the element or
// begin a comment. JSON has it only in texts.
std::string without_markup(std::string_view json) {
  std::string safe;
  safe.reserve(json.size());
  for (const char c : json) {
    if (c == '<') {
      safe += "\\u003c";
    } else {
      safe += c;
    }
  }
  return safe;
}

}  // namespace

std::string fill_page(std::string_view html, std::string_view json,
                      const std::vector<std::string_view>& scripts) {
  const PageFiles files = page_files();
  const std::string data = without_markup(json);
  std::string script;
  for (const std::string_view part : scripts) {
    script += part;
  }
  // In the order of the page, so that a marker inside what was filled in is never seen.
  const std::array<std::pair<std::string_view, std::string_view>, 4> parts = {
      {{"{{style}}", files.css},
       {"{{data}}", data},
       {"{{vega}}", files.vega},
       {"{{script}}", script}}};
  std::string page;
  std::string_view rest = html;
  for (const auto& [marker, content] : parts) {
    const std::size_t at = rest.find(marker);
    check(at != std::string_view::npos, "the page has a place for each part");
    page += rest.substr(0, at);
    page += content;
    rest.remove_prefix(at + marker.size());
  }
  page += rest;
  return page;
}

}  // namespace mezzotint
