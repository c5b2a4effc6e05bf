// Words of the command line that are more than a number or a name.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "mezzotint/result.h"

namespace mezzotint::cli {

// "64" is a cube, "64x48x32" is x, y, z.
Result<std::array<std::int64_t, 3>> parse_size(std::string_view text);

// Bytes: "3800000000", "3.8GB" (10^9), "4GiB" or "4G" (2^30); also M and K.
Result<std::uint64_t> parse_bytes(std::string_view text);

// Seconds: "90", "90s", "5min", "1.5h"; 0 too. The error names the flag, "--max-seconds".
Result<double> parse_duration(std::string_view text, std::string_view flag);

// The entry of `known` nearest to `word` by edit distance (insert, delete, replace, swap
// neighbours), when it is near enough to be a slip; else empty.
std::string nearest(std::string_view word, const std::vector<std::string>& known);

// What a word given to an option of CLI11's type `type` (INT, UINT, FLOAT) should have been; empty
// when it is that, or when the type is another.
std::string expected_number(std::string_view type, std::string_view word);

// What is no UTF-8, or controls a terminal or the direction of writing, as \xNN: names of files may
// hold all of that.
std::string on_one_line(std::string_view text);

}  // namespace mezzotint::cli
