#include "cli/arguments.h"

#include <algorithm>
#include <charconv>
#include <cmath>
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

Result<double> parse_duration(std::string_view text) {
  constexpr Unit kUnits[] = {{"", 1}, {"s", 1}, {"min", 60}, {"h", 3600}};
  const auto seconds = number_with_unit(text, kUnits);
  if (!seconds || !(*seconds >= 0) || std::isinf(*seconds)) {
    return invalid_input("--checkpoint-every: {} is not a time such as 90s, 5min or 1h, nor 0",
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
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7F) {
      fmt::format_to(std::back_inserter(line), "\\x{:02x}", byte);
    } else {
      line += c;
    }
  }
  return line;
}

}  // namespace mezzotint::cli
