// Names from files, made fit for one line on a terminal or for a shell.
#pragma once

#include <string>
#include <string_view>

namespace mezzotint {

// `text` in backquotes; bytes outside printable ASCII as \xNN; cut after 96 bytes with "...".
[[nodiscard]] std::string in_quotes(std::string_view text);
// As one word of a POSIX shell's command: in single quotes where it needs them.
[[nodiscard]] std::string shell_word(std::string_view text);

}  // namespace mezzotint
