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

}  // namespace mezzotint
