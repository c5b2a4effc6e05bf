// Files: bounded reading. Writing is in output_file.h and locked_file.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "base/descriptor.h"
#include "mezzotint/cancel.h"
#include "mezzotint/result.h"

namespace mezzotint {

// A regular file open for reading at arbitrary offsets.
class InputFile {
 public:
  // kNotFound when absent; kInvalidInput when it is not a regular file or cannot be read.
  [[nodiscard]] static Result<InputFile> open(const std::filesystem::path& path);

  [[nodiscard]] std::uint64_t size() const { return size_; }
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

  // Fills `out` from `offset`; a short read is an error (the file was truncated meanwhile).
  Status read_at(std::uint64_t offset, std::span<std::byte> out) const;
  // The first `most` bytes, or all.
  [[nodiscard]] Result<std::vector<std::byte>> start(std::size_t most) const;

 private:
  InputFile() = default;
  Descriptor descriptor_;
  std::uint64_t size_ = 0;
  std::filesystem::path path_;
};

// Whole file; kInvalidInput when it is larger than `limit` bytes.
Result<std::vector<std::byte>> read_file(const std::filesystem::path& path, std::uint64_t limit);

// The same for what is read as text, whatever its bytes are.
Result<std::string> read_text_file(const std::filesystem::path& path, std::uint64_t limit);

// SHA-256 of the content, in hexadecimal. kCancelled when the token was set: files may be large.
Result<std::string> hash_file(const std::filesystem::path& path,
                              const CancelToken* cancel = nullptr);

}  // namespace mezzotint
