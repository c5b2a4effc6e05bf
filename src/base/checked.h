// Arithmetic on sizes that came from outside: every count is checked before it allocates.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>

namespace mezzotint {

[[nodiscard]] constexpr std::optional<std::uint64_t> checked_add(std::uint64_t a, std::uint64_t b) {
  if (a > std::numeric_limits<std::uint64_t>::max() - b) {
    return std::nullopt;
  }
  return a + b;
}

[[nodiscard]] constexpr std::optional<std::uint64_t> checked_multiply(std::uint64_t a,
                                                                      std::uint64_t b) {
  if (a != 0 && b > std::numeric_limits<std::uint64_t>::max() / a) {
    return std::nullopt;
  }
  return a * b;
}

// Of signed sizes; nothing when the sum leaves int64.
[[nodiscard]] constexpr std::optional<std::int64_t> checked_sum(std::int64_t a, std::int64_t b) {
  std::int64_t sum = 0;
  if (__builtin_add_overflow(a, b, &sum)) {
    return std::nullopt;
  }
  return sum;
}

// Product of `dims`; nothing when a dimension is negative or the product leaves int64.
[[nodiscard]] constexpr std::optional<std::int64_t> checked_elements(
    std::span<const std::int64_t> dims) {
  std::uint64_t product = 1;
  for (const std::int64_t dim : dims) {
    if (dim < 0) {
      return std::nullopt;
    }
    const auto next = checked_multiply(product, static_cast<std::uint64_t>(dim));
    if (!next || *next > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) {
      return std::nullopt;
    }
    product = *next;
  }
  return static_cast<std::int64_t>(product);
}

}  // namespace mezzotint
