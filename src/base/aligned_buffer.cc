#include "base/aligned_buffer.h"

#include <sys/mman.h>

#include <cstdlib>
#include <utility>

#include "base/error.h"

namespace mezzotint {
namespace {

constexpr std::size_t kHugePage = std::size_t{2} << 20;

}  // namespace

Result<AlignedBuffer> AlignedBuffer::allocate(std::size_t bytes) {
  AlignedBuffer buffer;
  if (bytes == 0) {
    return buffer;
  }
  // Buffers that fill a huge page start on one: page walks otherwise cost a few percent of a 500 MB
  // tensor's time, and a fifth of a kernel's that strides through weights of a few megabytes.
  const std::size_t alignment = bytes >= kHugePage ? kHugePage : kAlignment;
  const std::size_t rounded = (bytes + kAlignment - 1) / kAlignment * kAlignment;
  // Not aligned_alloc(), which wants a whole number of alignments.
  void* memory = nullptr;
  if (rounded < bytes || posix_memalign(&memory, alignment, rounded) != 0) {
    memory = nullptr;
  }
  if (memory == nullptr) {
    return resource_error(
        "cannot allocate {} bytes of memory: use a smaller size or a larger machine", bytes);
  }
  if (alignment == kHugePage) {
    // Whole pages only, so that no more becomes resident than was asked for. A hint: refusal only
    // costs speed.
    madvise(memory, bytes / kHugePage * kHugePage, MADV_HUGEPAGE);
  }
  buffer.data_ = static_cast<std::byte*>(memory);
  buffer.size_ = bytes;
  return buffer;
}

AlignedBuffer::AlignedBuffer(AlignedBuffer&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}

AlignedBuffer& AlignedBuffer::operator=(AlignedBuffer&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  return *this;
}

AlignedBuffer::~AlignedBuffer() {
  std::free(data_);
}

}  // namespace mezzotint
