#include "cli/columns.h"

#include <fmt/format.h>

#include <algorithm>

namespace mezzotint::cli {
namespace {

bool continues_character(char byte) {
  return (static_cast<unsigned char>(byte) & 0xC0U) == 0x80U;
}

// Where the character after the first `columns` begins.
std::size_t offset_of(std::string_view text, std::size_t columns) {
  std::size_t at = 0;
  while (at < text.size() && columns > 0) {
    ++at;
    while (at < text.size() && continues_character(text[at])) {
      ++at;
    }
    --columns;
  }
  return at;
}

}  // namespace

std::size_t columns_of(std::string_view text) {
  return text.size() - static_cast<std::size_t>(std::ranges::count_if(text, continues_character));
}

std::string shorten(std::string_view text, std::size_t columns) {
  constexpr std::string_view kGap = "...";
  const std::size_t all = columns_of(text);
  if (all <= columns) {
    return std::string(text);
  }
  const std::size_t kept = columns - kGap.size();
  const std::size_t head = kept / 2;
  return fmt::format("{}{}{}", text.substr(0, offset_of(text, head)), kGap,
                     text.substr(offset_of(text, all - (kept - head))));
}

std::string shorten_words(std::string_view text, std::size_t columns) {
  std::string words;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find(' ', begin), text.size());
    words += shorten(text.substr(begin, end - begin), columns);
    words += text.substr(end, 1);
    begin = end + 1;
  }
  return words;
}

std::string wrap(std::string_view text, std::size_t indent, std::string_view joint) {
  const std::size_t width = kColumns - indent - joint.size();
  std::string lines;
  std::string line;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' '), text.size());
    const std::string_view word = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (!line.empty() && columns_of(line) + 1 + columns_of(word) > width) {
      lines += fmt::format("{:{}}{}{}\n", "", indent, line, joint);
      line.clear();
    }
    line += line.empty() ? "" : " ";
    line += word;
  }
  return lines + fmt::format("{:{}}{}\n", "", indent, line);
}

}  // namespace mezzotint::cli
