// What JSON parsers pass over in silence.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace mezzotint {

// The first key that stands twice in one object, of which the parser would take the last. Of a text
// that is no JSON, only what is before its error counts.
[[nodiscard]] std::optional<std::string> repeated_key(std::string_view json);

}  // namespace mezzotint
