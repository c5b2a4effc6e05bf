// Text that stays within a terminal's width. A column is a UTF-8 character.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace mezzotint::cli {

// Tables and sentences stay within so many.
inline constexpr std::size_t kColumns = 100;

[[nodiscard]] std::size_t columns_of(std::string_view text);

// As it is, or with "..." for its middle, so that it has at most `columns` (4 or more).
[[nodiscard]] std::string shorten(std::string_view text, std::size_t columns);

// The same of every word of it.
[[nodiscard]] std::string shorten_words(std::string_view text, std::size_t columns);

// Broken at spaces into lines of at most kColumns, each ended by a line break and indented by
// `indent`; what ends a line that is continued is `joint`. A word that is longer stays whole.
[[nodiscard]] std::string wrap(std::string_view text, std::size_t indent,
                               std::string_view joint = "");

}  // namespace mezzotint::cli
