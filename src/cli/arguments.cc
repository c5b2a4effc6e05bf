#include "cli/arguments.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <limits>
#include <optional>
#include <span>

#include "base/error.h"
#include "base/quote.h"

namespace mezzotint::cli {
namespace {

// Optimal string alignment distance.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::vector<std::size_t>> cost(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
  for (std::size_t i = 0; i <= a.size(); ++i) {
    for (std::size_t j = 0; j <= b.size(); ++j) {
      if (i == 0 || j == 0) {
        cost[i][j] = i + j;
        continue;
      }
      const std::size_t replace = cost[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      cost[i][j] = std::min({cost[i - 1][j] + 1, cost[i][j - 1] + 1, replace});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        cost[i][j] = std::min(cost[i][j], cost[i - 2][j - 2] + 1);
      }
    }
  }
  return cost[a.size()][b.size()];
}

template <typename T>
bool is_number(std::string_view word) {
  T value{};
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  return error == std::errc{} && end == word.data() + word.size();
}

struct Unit {
  std::string_view name;
  double factor;
};

// "1.5h": the number times its unit's factor; nothing when it is not a number and a known unit.
std::optional<double> number_with_unit(std::string_view text, std::span<const Unit> units) {
  double number = 0;
  const auto [next, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const std::string_view name(next, static_cast<std::size_t>(text.data() + text.size() - next));
  const auto unit =
      std::ranges::find_if(units, [&](const Unit& known) { return known.name == name; });
  if (error != std::errc{} || unit == units.end()) {
    return std::nullopt;
  }
  return number * unit->factor;
}

struct Character {
  std::size_t bytes = 1;
  bool is_printable = false;
};

// Controls of terminals (C0, DEL, C1), line breaks, and what turns the direction of writing.
bool controls_a_terminal(std::uint32_t code) {
  return code < 0x20 || (code >= 0x7F && code <= 0x9F) || code == 0x200E || code == 0x200F ||
         (code >= 0x2028 && code <= 0x202E) || (code >= 0x2066 && code <= 0x2069);
}

// The first character of UTF-8 (RFC 3629); one byte that is not printable where it is none.
Character first_character(std::string_view text) {
  const auto at = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  constexpr std::uint32_t kLeast[] = {0, 0, 0x80, 0x800, 0x10000};  // by length
  const unsigned char first = at(0);
  const std::size_t length = first < 0x80 ? 1 : first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
  if ((first >= 0x80 && first < 0xC2) || first > 0xF4 || length > text.size()) {
    return {};
  }
  std::uint32_t code = length == 1 ? first : first & (0x7FU >> length);
  for (std::size_t i = 1; i < length; ++i) {
    if ((at(i) & 0xC0) != 0x80) {
      return {};
    }
    code = code << 6 | (at(i) & 0x3FU);
  }
  if (code < kLeast[length] || code > 0x10FFFF || (code >= 0xD800 && code <= 0xDFFF)) {
    return {};
  }
  return {length, !controls_a_terminal(code)};
}

}  // namespace

Result<std::array<std::int64_t, 3>> parse_size(std::string_view text) {
  std::vector<std::int64_t> sides;
  const char* at = text.data();
  const char* const end = text.data() + text.size();
  while (at < end && sides.size() < 4) {
    std::int64_t side = 0;
    const auto [next, error] = std::from_chars(at, end, side);
    if (error != std::errc{} || side < 1) {
      break;
    }
    sides.push_back(side);
    at = next;
    if (at < end && (*at == 'x' || *at == ',') && at + 1 < end) {
      ++at;
    } else {
      break;
    }
  }
  if (at != end || (sides.size() != 1 && sides.size() != 3)) {
    return invalid_input("--size: {} is neither one side (64) nor three (64x48x32)",
                         in_quotes(text));
  }
  sides.resize(3, sides[0]);
  return std::array{sides[0], sides[1], sides[2]};
}

Result<std::uint64_t> parse_bytes(std::string_view text) {
  constexpr Unit kUnits[] = {{"", 1},         {"K", 0x1p10},   {"KiB", 0x1p10}, {"KB", 1e3},
                             {"M", 0x1p20},   {"MiB", 0x1p20}, {"MB", 1e6},     {"G", 0x1p30},
                             {"GiB", 0x1p30}, {"GB", 1e9},     {"T", 0x1p40},   {"TB", 1e12}};
  const auto bytes = number_with_unit(text, kUnits);
  if (!bytes || !(*bytes > 0) || *bytes >= 0x1p63) {
    return invalid_input("--memory-limit: {} is not a size such as 3.8GB, 4GiB or 4000000000",
                         in_quotes(text));
  }
  return static_cast<std::uint64_t>(*bytes);
}

Result<double> parse_duration(std::string_view text, std::string_view flag) {
  constexpr Unit kUnits[] = {{"", 1}, {"s", 1}, {"min", 60}, {"h", 3600}};
  const auto seconds = number_with_unit(text, kUnits);
  if (!seconds || !(*seconds >= 0) || std::isinf(*seconds)) {
    return invalid_input("{}: {} is not a time such as 90s, 5min or 1h, nor 0", flag,
                         in_quotes(text));
  }
  return *seconds;
}

std::string nearest(std::string_view word, const std::vector<std::string>& known) {
  std::string best;
  std::size_t best_distance = std::max<std::size_t>(2, word.size() / 3) + 1;
  for (const std::string& candidate : known) {
    const std::size_t distance = edit_distance(word, candidate);
    if (distance < best_distance) {
      best_distance = distance;
      best = candidate;
    }
  }
  return best;
}

std::string expected_number(std::string_view type, std::string_view word) {
  if (type == "INT" && !is_number<int>(word)) {
    return fmt::format("a whole number of at most {} in size", std::numeric_limits<int>::max());
  }
  if (type == "UINT" && !is_number<std::uint64_t>(word)) {
    return fmt::format("a whole number from 0 to {}", std::numeric_limits<std::uint64_t>::max());
  }
  if (type == "FLOAT" && !is_number<double>(word)) {
    return "a number";
  }
  return "";
}

std::string on_one_line(std::string_view text) {
  std::string line;
  while (!text.empty()) {
    const Character next = first_character(text);
    const std::string_view bytes = text.substr(0, next.bytes);
    if (next.is_printable) {
      line += bytes;
    } else {
      for (const char c : bytes) {
        fmt::format_to(std::back_inserter(line), "\\x{:02x}", static_cast<unsigned char>(c));
      }
    }
    text.remove_prefix(next.bytes);
  }
  return line;
}

}  // namespace mezzotint::cli
