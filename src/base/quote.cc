#include "base/quote.h"

#include <fmt/format.h>

#include <cstddef>
#include <iterator>

namespace mezzotint {

std::string in_quotes(std::string_view text) {
  constexpr std::size_t kLongest = 96;
  std::string line = "`";
  for (const char c : text.substr(0, kLongest)) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte > 0x7E) {
      fmt::format_to(std::back_inserter(line), "\\x{:02x}", byte);
    } else {
      line += c;
    }
  }
  line += text.size() > kLongest ? "...`" : "`";
  return line;
}

std::string shell_word(std::string_view text) {
  constexpr std::string_view kPlain =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789%+,-./:=@_";
  if (!text.empty() && text.find_first_not_of(kPlain) == std::string_view::npos) {
    return std::string(text);
  }
  std::string word = "'";
  for (const char c : text) {
    word += c == '\'' ? std::string_view("'\\''") : std::string_view(&c, 1);
  }
  return word + "'";
}

}  // namespace mezzotint
