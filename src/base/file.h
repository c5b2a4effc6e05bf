// Files: bounded reading, and writing that either completes or leaves nothing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "mezzotint/result.h"

namespace mezzotint {

// A regular file open for reading at arbitrary offsets.
class InputFile {
 public:
  // kNotFound when absent; kInvalidInput when it is not a regular file or cannot be read.
  [[nodiscard]] static Result<InputFile> open(const std::filesystem::path& path);

  InputFile(InputFile&& other) noexcept;
  InputFile& operator=(InputFile&& other) noexcept;
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;
  ~InputFile();

  [[nodiscard]] std::uint64_t size() const { return size_; }
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

  // Fills `out` from `offset`; a short read is an error (the file was truncated meanwhile).
  Status read_at(std::uint64_t offset, std::span<std::byte> out) const;

 private:
  InputFile() = default;
  int descriptor_ = -1;
  std::uint64_t size_ = 0;
  std::filesystem::path path_;
};

// Whole file; kInvalidInput when it is larger than `limit` bytes.
Result<std::vector<std::byte>> read_file(const std::filesystem::path& path, std::uint64_t limit);

// SHA-256 of the content, in hexadecimal.
Result<std::string> hash_file(const std::filesystem::path& path);

// A file that appears under its final name complete or not at all: written to an exclusive
// temporary name in the same folder, synced, then renamed. Destroying an uncommitted OutputFile
// removes the temporary.
class OutputFile {
 public:
  // Creates the temporary and reserves `reserve_bytes` on disk (0: none), so that a full disk or an
  // unwritable folder is known before the work starts. With overwrite false an existing `path` is
  // refused.
  [[nodiscard]] static Result<OutputFile> create(const std::filesystem::path& path, bool overwrite,
                                                 std::uint64_t reserve_bytes);

  OutputFile(OutputFile&& other) noexcept;
  OutputFile& operator=(OutputFile&& other) noexcept;
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;
  ~OutputFile();

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

  Status write(std::span<const std::byte> bytes);
  // Syncs and renames. Without overwrite, a file that appeared meanwhile is not replaced.
  Status commit();

 private:
  OutputFile() = default;
  void discard();

  int descriptor_ = -1;
  bool overwrite_ = false;
  std::uint64_t written_ = 0;
  std::filesystem::path path_;
  std::filesystem::path temporary_;
};

}  // namespace mezzotint
