#include "graph/text_scanner.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "base/error.h"
#include "base/quote.h"

namespace mezzotint {
namespace {

bool is_name_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '.' || c == ':' || c == '/' || c == '-';
}

bool is_word_character(char c) {
  return is_name_character(c) || c == '+';
}

template <typename Predicate>
std::string_view take_while(std::string_view& text, Predicate predicate) {
  const auto stop = std::find_if_not(text.begin(), text.end(), predicate);
  const auto length = static_cast<std::size_t>(stop - text.begin());
  const std::string_view taken = text.substr(0, length);
  text.remove_prefix(length);
  return taken;
}

}  // namespace

std::string spelled_name(std::string_view name) {
  const bool plain = !name.empty() && std::all_of(name.begin(), name.end(), is_name_character);
  return fmt::format("%{}", plain ? std::string(name) : quoted_text(name));
}

std::string quoted_text(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (c < 0x20 || c > 0x7e) {
      out += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    } else {
      out += c;
    }
  }
  return out + "\"";
}

std::string spelled_type(const ValueType& type) {
  const std::string_view layout = type.layout == Layout::kRowMajor ? "" : " channels_last";
  return fmt::format("{}{}{}", name_of(type.dtype), type.shape.to_string(), layout);
}

bool LineReader::next() {
  while (!text_.empty()) {
    const std::size_t end = text_.find('\n');
    line_ = text_.substr(0, end);
    text_.remove_prefix(end == std::string_view::npos ? text_.size() : end + 1);
    ++number_;
    const std::size_t start = line_.find_first_not_of(" \t\r");
    if (start != std::string_view::npos && line_[start] != '#') {
      return true;
    }
  }
  return false;
}

void TextScanner::skip_spaces() {
  take_while(rest_, [](char c) { return c == ' ' || c == '\t' || c == '\r'; });
}

bool TextScanner::at(char c) {
  skip_spaces();
  return rest_.starts_with(c);
}

bool TextScanner::at_end() {
  skip_spaces();
  return rest_.empty();
}

bool TextScanner::accept(char c) {
  return accept(std::string_view(&c, 1));
}

bool TextScanner::accept(std::string_view punctuation) {
  skip_spaces();
  if (!rest_.starts_with(punctuation)) {
    return false;
  }
  rest_.remove_prefix(punctuation.size());
  return true;
}

bool TextScanner::accept_word(std::string_view word) {
  skip_spaces();
  std::string_view after = rest_;
  if (take_while(after, is_word_character) != word) {
    return false;
  }
  rest_ = after;
  return true;
}

std::string_view TextScanner::word() {
  skip_spaces();
  return take_while(rest_, is_word_character);
}

Result<std::string> TextScanner::name() {
  if (!accept('%')) {
    return invalid_input("expected a %name, found {}", in_quotes(rest_));
  }
  if (rest_.starts_with('"')) {
    return quoted();
  }
  const std::string_view plain = take_while(rest_, is_name_character);
  if (plain.empty()) {
    return invalid_input("expected a name after %, found {}", in_quotes(rest_));
  }
  return std::string(plain);
}

Result<std::string> TextScanner::quoted() {
  const Error unfinished = invalid_input(
      "a quoted text does not end, or has a \\ other than"
      " \\\\, \\\" and \\xNN");
  if (!accept('"')) {
    return invalid_input("expected a text in double quotes, found {}", in_quotes(rest_));
  }
  std::string out;
  while (!rest_.empty()) {
    const char c = rest_.front();
    rest_.remove_prefix(1);
    if (c == '"') {
      return out;
    }
    if (c != '\\') {
      out += c;
      continue;
    }
    if (rest_.starts_with('"') || rest_.starts_with('\\')) {
      out += rest_.front();
      rest_.remove_prefix(1);
      continue;
    }
    unsigned byte = 0;
    if (!rest_.starts_with('x') || rest_.size() < 3 ||
        std::from_chars(rest_.data() + 1, rest_.data() + 3, byte, 16).ptr != rest_.data() + 3) {
      return unfinished;
    }
    out += static_cast<char>(byte);
    rest_.remove_prefix(3);
  }
  return unfinished;
}

}  // namespace mezzotint
