// The tokens of a graph's text form.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "graph/graph.h"
#include "mezzotint/result.h"

namespace mezzotint {

// "%conv.0", or %"a b" when characters other than letters, digits and _ . : / - occur.
[[nodiscard]] std::string spelled_name(std::string_view name);
// In double quotes, with \" \\ and \xNN for bytes outside printable ASCII.
[[nodiscard]] std::string quoted_text(std::string_view text);

// "float32[1, 3, 8, 8, 8] channels_last"; row_major is left out.
[[nodiscard]] std::string spelled_type(const ValueType& type);

// Lines that are neither blank nor comments (#).
class LineReader {
 public:
  explicit LineReader(std::string_view text) : text_(text) {}

  bool next();
  [[nodiscard]] std::string_view current() const { return line_; }
  [[nodiscard]] std::size_t number() const { return number_; }  // from 1

 private:
  std::string_view text_;
  std::string_view line_;
  std::size_t number_ = 0;
};

// Reads one line from left to right; spaces before a token are skipped.
class TextScanner {
 public:
  explicit TextScanner(std::string_view line) : rest_(line) {}

  [[nodiscard]] bool at(char c);
  [[nodiscard]] bool at_end();
  [[nodiscard]] std::string_view rest() const { return rest_; }
  bool accept(char c);
  bool accept(std::string_view punctuation);
  // Only as a whole word.
  bool accept_word(std::string_view word);
  // Letters, digits and _ . : / - +, as many as follow; empty when none do.
  std::string_view word();
  // After a %, plain or quoted.
  Result<std::string> name();
  Result<std::string> quoted();

 private:
  void skip_spaces();

  std::string_view rest_;
};

}  // namespace mezzotint
