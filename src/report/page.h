// A page of this room: one HTML file that asks for no other and for no network, which its own
// policy forbids.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace mezzotint {

// What one page has of its own; the rest is html/page.html.
struct Page {
  std::string_view name;      // "profile", what it calls itself
  std::string_view table;     // "ops", the id of the section that a reader may skip to
  std::string_view sections;  // HTML
  std::vector<std::string_view> scripts;
};

// The page with the style of all pages, `json` as its data, Vega, and its scripts in their order.
// The JSON's texts can end no element.
[[nodiscard]] std::string fill_page(const Page& page, std::string_view json);

}  // namespace mezzotint
