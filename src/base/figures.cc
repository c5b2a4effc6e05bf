#include "base/figures.h"

#include <fmt/format.h>

#include <cmath>

namespace mezzotint {

// A limit between two forms is where the smaller one would round to the larger one's first value.
std::string format_duration(double seconds) {
  const double size = std::abs(seconds);
  if (size < 0.99995e-3) {
    return fmt::format("{:.1f} us", seconds * 1e6);
  }
  return size < 0.999995 ? fmt::format("{:.2f} ms", seconds * 1e3)
                         : fmt::format("{:.3f} s", seconds);
}

std::string format_change(double seconds) {
  return fmt::format("{}{}", seconds < 0 ? "" : "+", format_duration(seconds));
}

std::string format_percent(double share) {
  if (std::abs(share) >= 0.0995) {
    return fmt::format("{:.0f} %", 100 * share);
  }
  return fmt::format("{:.1f} %", std::round(1000 * share) / 10 + 0.0);  // no "-0.0 %"
}

std::string format_bytes(std::uint64_t bytes) {
  const double value = static_cast<double>(bytes);
  if (value >= 0.99995e9) {
    return fmt::format("{:.2f} GB", value / 1e9);
  }
  if (value >= 0.99995e6) {
    return fmt::format("{:.4g} MB", value / 1e6);
  }
  return value >= 1e3 ? fmt::format("{:.4g} kB", value / 1e3) : fmt::format("{} bytes", bytes);
}

}  // namespace mezzotint
