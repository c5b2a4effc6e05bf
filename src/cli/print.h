// Printing that survives a reader that went away or a full disk: fmt::print would throw in the
// middle of a run. Whether stdout took everything is asked once, at the end.
#pragma once

#include <fmt/format.h>

#include <array>
#include <cstdio>
#include <string>
#include <utility>

namespace mezzotint::cli {

template <typename... Args>
void print_to(std::FILE* stream, fmt::format_string<Args...> format, Args&&... args) {
  const std::string text = fmt::format(format, std::forward<Args>(args)...);
  std::fwrite(text.data(), 1, text.size(), stream);
}

// "128x128x96"; numbers that are not whole with six digits.
template <typename T>
std::string grid_text(const std::array<T, 3>& sides) {
  return fmt::format("{:.6g}x{:.6g}x{:.6g}", static_cast<double>(sides[0]),
                     static_cast<double>(sides[1]), static_cast<double>(sides[2]));
}

// False when something printed to stdout was lost.
inline bool stdout_is_whole() {
  return std::fflush(stdout) == 0 && std::ferror(stdout) == 0;
}

}  // namespace mezzotint::cli
