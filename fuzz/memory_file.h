// Bytes as an open file, for readers that take files; nothing touches a disk.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>

#include "base/check.h"

namespace mezzotint::fuzz {

class MemoryFile {
 public:
  explicit MemoryFile(std::span<const std::uint8_t> bytes)
      : descriptor_(::memfd_create("fuzz", MFD_CLOEXEC)) {
    check(descriptor_ >= 0, "memfd_create failed");
    std::size_t done = 0;
    while (done < bytes.size()) {
      const ssize_t count = ::write(descriptor_, bytes.data() + done, bytes.size() - done);
      check(count > 0, "write to a memory file failed");
      done += static_cast<std::size_t>(count);
    }
  }
  ~MemoryFile() { ::close(descriptor_); }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;

  [[nodiscard]] std::filesystem::path path() const {
    return "/proc/self/fd/" + std::to_string(descriptor_);
  }

 private:
  int descriptor_;
};

}  // namespace mezzotint::fuzz
