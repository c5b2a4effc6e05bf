// Uninitialised memory for kernels: cache-line aligned, huge pages where the system grants them.
#pragma once

#include <cstddef>
#include <span>

#include "mezzotint/result.h"

namespace mezzotint {

class AlignedBuffer {
 public:
  static constexpr std::size_t kAlignment = 64;

  AlignedBuffer() = default;
  // Contents are undefined. kResource when the system refuses.
  [[nodiscard]] static Result<AlignedBuffer> allocate(std::size_t bytes);

  AlignedBuffer(AlignedBuffer&& other) noexcept;
  AlignedBuffer& operator=(AlignedBuffer&& other) noexcept;
  AlignedBuffer(const AlignedBuffer&) = delete;
  AlignedBuffer& operator=(const AlignedBuffer&) = delete;
  ~AlignedBuffer();

  [[nodiscard]] std::byte* data() const { return data_; }
  [[nodiscard]] std::size_t size() const { return size_; }

  template <typename T>
  [[nodiscard]] std::span<T> as() const {
    return {reinterpret_cast<T*>(data_), size_ / sizeof(T)};
  }

 private:
  std::byte* data_ = nullptr;
  std::size_t size_ = 0;
};

// The least multiple of AlignedBuffer::kAlignment that holds `bytes`: what a part of a buffer
// occupies when the next part is to be aligned, too.
[[nodiscard]] constexpr std::size_t align_up(std::size_t bytes) {
  return (bytes + AlignedBuffer::kAlignment - 1) / AlignedBuffer::kAlignment *
         AlignedBuffer::kAlignment;
}

}  // namespace mezzotint
