#include "house/house.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <functional>
#include <regex>
#include <sstream>

namespace mezzotint::house {
namespace {

constexpr std::array<std::string_view, 3> kNotes = {"TODO", "FIXME", "XXX"};
constexpr std::array<std::string_view, 4> kMachinePaths = {"/home/", "/root/", "/Users/", "/tmp/"};

bool is_word(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

// Whether `line` holds `word` at its start or after a character that satisfies `may_precede`, and
// not as the beginning of a longer word.
bool holds(std::string_view line, std::string_view word,
           const std::function<bool(char)>& may_precede) {
  for (std::size_t at = line.find(word); at != std::string_view::npos;
       at = line.find(word, at + 1)) {
    const std::size_t end = at + word.size();
    const bool begins = at == 0 || may_precede(line[at - 1]);
    const bool ends = end == line.size() || !is_word(word.back()) || !is_word(line[end]);
    if (begins && ends) {
      return true;
    }
  }
  return false;
}

template <typename Words>
std::vector<std::string> find_words(const TextFile& file, const Words& words,
                                    const std::function<bool(char)>& may_precede,
                                    std::string_view advice) {
  std::vector<std::string> problems;
  std::istringstream lines{file.content};
  int number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    for (const std::string_view word : words) {
      if (holds(line, word, may_precede)) {
        problems.push_back(fmt::format("{}:{}: {} {}", file.path, number, word, advice));
      }
    }
  }
  return problems;
}

}  // namespace

bool is_text(std::string_view content) {
  constexpr std::size_t kProbe = 8192;
  return content.substr(0, kProbe).find('\0') == std::string_view::npos;
}

std::vector<std::string> check_length(const TextFile& file, std::size_t max_lines) {
  const auto lines =
      static_cast<std::size_t>(std::count(file.content.begin(), file.content.end(), '\n'));
  if (lines < max_lines) {
    return {};
  }
  return {fmt::format("{}: {} lines; files stay under {}", file.path, lines, max_lines)};
}

std::vector<std::string> check_no_notes(const TextFile& file) {
  if (file.path == "docs/roadmap.md") {
    return {};
  }
  return find_words(
      file, kNotes, [](char before) { return !is_word(before); },
      "belongs in an issue or in docs/roadmap.md");
}

std::vector<std::string> check_no_placeholders(const TextFile& file) {
  std::vector<std::string> problems;
  const std::regex placeholder("@[A-Z][A-Z0-9_]*@");
  std::istringstream lines{file.content};
  int number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    for (std::sregex_iterator found(line.begin(), line.end(), placeholder), end; found != end;
         ++found) {
      problems.push_back(
          fmt::format("{}:{}: {} was never filled in", file.path, number, found->str()));
    }
  }
  return problems;
}

std::vector<std::string> check_no_machine_paths(const TextFile& file) {
  // "src/home/" and "https://host/home/" are no absolute paths, but "--out=/..." and quotes are.
  return find_words(
      file, kMachinePaths,
      [](char before) {
        return !is_word(before) && std::string_view("./-})").find(before) == std::string_view::npos;
      },
      "is a path of one machine");
}

}  // namespace mezzotint::house
