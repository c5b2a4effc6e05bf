// A page of this room: one HTML file that asks for no other and for no network, which its own
// policy forbids.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace mezzotint {

// `html` with {{style}}, {{data}}, {{vega}} and {{script}}, each once and in this order, filled in:
// the style of all pages, `json`, Vega, and the scripts. The JSON's texts can end no element.
[[nodiscard]] std::string fill_page(std::string_view html, std::string_view json,
                                    const std::vector<std::string_view>& scripts);

}  // namespace mezzotint
