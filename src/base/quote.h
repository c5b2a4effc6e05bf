// Names from files, made fit for one line on a terminal.
#pragma once

#include <string>
#include <string_view>

namespace mezzotint {

// `text` in backquotes; bytes outside printable ASCII as \xNN; cut after 96 bytes with "...".
[[nodiscard]] std::string in_quotes(std::string_view text);

}  // namespace mezzotint
