// What a JSON text from outside may cost and what it is, seen before it becomes values in memory:
// values nested in millions overflow the stack of who copies them.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace mezzotint {

// The text under the key "kind" of the outermost object, the first where there are several. Nothing
// when there is none, or before it is no JSON. What is behind it is not read.
[[nodiscard]] std::optional<std::string> json_kind(std::string_view text);

// What keeps `text` from being parsed: not JSON, a NUL byte (where the parser would stop and call
// it the end), more than `most_bytes`, nested deeper than 16,
// more than 2^23 values (some 60 bytes each), or a key twice in one object, of which a parser would
// keep the last in silence. Empty when nothing does.
[[nodiscard]] std::string json_beyond_limits(std::string_view text, std::size_t most_bytes);

}  // namespace mezzotint
