// Bounded reading of little-endian fields from a piece of a file already in memory.
#pragma once

#include <cstddef>
#include <cstring>
#include <optional>
#include <span>
#include <string_view>
#include <type_traits>

namespace mezzotint {

class ByteReader {
 public:
  explicit ByteReader(std::span<const std::byte> bytes) : bytes_(bytes) {}

  [[nodiscard]] std::size_t position() const { return position_; }
  [[nodiscard]] std::size_t remaining() const { return bytes_.size() - position_; }

  // The next `count` bytes, or nothing (and no movement) when fewer remain.
  std::optional<std::span<const std::byte>> take(std::size_t count) {
    if (count > remaining()) {
      return std::nullopt;
    }
    const auto part = bytes_.subspan(position_, count);
    position_ += count;
    return part;
  }

  // Little-endian, as the machines this library supports are.
  template <typename T>
  std::optional<T> read() {
    static_assert(std::is_trivially_copyable_v<T>);
    const auto part = take(sizeof(T));
    if (!part) {
      return std::nullopt;
    }
    T value;
    std::memcpy(&value, part->data(), sizeof(T));
    return value;
  }

  std::optional<std::string_view> text(std::size_t count) {
    const auto part = take(count);
    if (!part) {
      return std::nullopt;
    }
    return std::string_view(reinterpret_cast<const char*>(part->data()), part->size());
  }

 private:
  std::span<const std::byte> bytes_;
  std::size_t position_ = 0;
};

}  // namespace mezzotint
