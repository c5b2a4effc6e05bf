// What a JSON text from outside may cost, checked before it becomes values in memory.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace mezzotint {

// What keeps `text` from being parsed: not JSON, more than `most_bytes`, nested deeper than 16,
// more than 2^23 values (some 60 bytes each), or a key twice in one object, of which a parser would
// keep the last in silence. Empty when nothing does.
[[nodiscard]] std::string json_beyond_limits(std::string_view text, std::size_t most_bytes);

}  // namespace mezzotint
