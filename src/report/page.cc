#include "report/page.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cstddef>
#include <iterator>
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

std::string fill_page(const Page& page, std::string_view json) {
  constexpr std::string_view kBegin = "{{";
  constexpr std::string_view kEnd = "}}";
  const PageFiles files = page_files();
  const std::string data = without_markup(json);
  const std::string script = fmt::format("{}", fmt::join(page.scripts, ""));
  const std::pair<std::string_view, std::string_view> parts[] = {
      {"name", page.name}, {"style", files.css}, {"table", page.table}, {"sections", page.sections},
      {"data", data},      {"vega", files.vega}, {"script", script}};
  std::string filled;
  std::string_view rest = files.frame;
  // What was filled in is not looked at again: it may hold such marks.
  for (std::size_t at = rest.find(kBegin); at != std::string_view::npos; at = rest.find(kBegin)) {
    const std::string_view mark =
        rest.substr(at + kBegin.size(), rest.find(kEnd, at) - at - kBegin.size());
    const auto* const part =
        std::ranges::find(parts, mark, [](const auto& each) { return each.first; });
    check(part != std::end(parts), "the page has a part for each mark");
    filled += rest.substr(0, at);
    filled += part->second;
    rest.remove_prefix(at + kBegin.size() + mark.size() + kEnd.size());
  }
  filled += rest;
  return filled;
}

}  // namespace mezzotint
