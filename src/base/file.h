// Files: bounded reading, and writing that either completes or leaves nothing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "mezzotint/cancel.h"
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

// SHA-256 of the content, in hexadecimal. kCancelled when the token was set: files may be large.
Result<std::string> hash_file(const std::filesystem::path& path,
                              const CancelToken* cancel = nullptr);

// A file that appears under its final name complete or not at all: written to an exclusive
// temporary name in the same folder, synced, then renamed. Destroying an OutputFile undoes what is
// not yet final: the temporary goes, and a published name is again what it was before.
class OutputFile {
 public:
  // Creates the temporary and reserves `reserve_bytes` on disk (0: none), so that a full disk or an
  // unwritable folder is known before the work starts. With overwrite false an existing `path` is
  // refused; with overwrite true only a regular file is replaced, never a folder, device or pipe. A
  // symbolic link is replaced itself, not what it points to, and only if that is a regular file or
  // absent.
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
  Status publish();
  // Makes a published file final. A file that is published without it disappears when this object
  // does, and what it had replaced comes back; the latter needs a file system that can exchange two
  // names (RENAME_EXCHANGE), else publish() is final at once.
  void keep();
  // Both.
  Status commit();

 private:
  // What takes a published file back.
  enum class Undo : std::uint8_t {
    kNothing,
    kRemove,   // the name was new
    kPutBack,  // the temporary name holds what was replaced
  };

  OutputFile() = default;
  void discard();
  Status replace();
  Status add();

  int descriptor_ = -1;  // of the temporary, until it is published
  Undo undo_ = Undo::kNothing;
  bool overwrite_ = false;
  std::uint64_t written_ = 0;
  std::filesystem::path path_;
  std::filesystem::path temporary_;
};

}  // namespace mezzotint
