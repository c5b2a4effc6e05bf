// A file that is written in place, by one process at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>

#include "base/descriptor.h"
#include "mezzotint/result.h"

namespace mezzotint {

// Held by an advisory lock (flock), which ends with the process, however that ends. A file system
// that has no locks gives none, and two processes may then hold one file.
class LockedFile {
 public:
  // An existing regular file; no symbolic link is followed. kNotFound when absent, kResource when
  // another process holds it, kInvalidInput when it is something else or cannot be written.
  static Result<LockedFile> open(const std::filesystem::path& path);
  // A new one of `length` bytes, reserved on disk: `start` and then zeros. It appears complete and
  // held. kInvalidInput when the name is taken, kResource when there is no space or no permission.
  static Result<LockedFile> create(const std::filesystem::path& path,
                                   std::span<const std::byte> start, std::uint64_t length);

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  Status write_at(std::uint64_t offset, std::span<const std::byte> bytes);
  // What was written is on the disk when this returns.
  Status sync();
  // Whether it still has its name: it, or its folder, may have been removed or replaced.
  [[nodiscard]] bool is_in_place() const;
  // Removes the name, if it is still this file's.
  void remove();

 private:
  LockedFile(Descriptor descriptor, std::filesystem::path path);

  Descriptor descriptor_;
  std::filesystem::path path_;
};

}  // namespace mezzotint
