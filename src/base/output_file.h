// Writing that either completes or leaves nothing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>

#include "base/draft_file.h"
#include "mezzotint/result.h"

namespace mezzotint {

// A file that appears under its final name complete or not at all: a draft in the same folder until
// it is synced and named. Destroying an OutputFile undoes what is not yet final: the draft goes,
// and a published name is again what it was before.
class OutputFile {
 public:
  // Creates the draft and reserves `reserve_bytes` on disk (0: none), so that a full disk or an
  // unwritable folder is known before the work starts. With overwrite false an existing `path` is
  // refused; with overwrite true only a regular file is replaced, never a folder, device or pipe,
  // and the new file has its permissions. A symbolic link is replaced itself, not what it points
  // to, and only if that is a regular file or absent.
  [[nodiscard]] static Result<OutputFile> create(const std::filesystem::path& path, bool overwrite,
                                                 std::uint64_t reserve_bytes,
                                                 DraftKind kind = DraftKind::kUnnamed);

  OutputFile(OutputFile&& other) noexcept;
  OutputFile& operator=(OutputFile&& other) noexcept;
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;
  ~OutputFile();

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

  Status write(std::span<const std::byte> bytes);
  // Syncs and gives it its name. Without overwrite, a file that appeared meanwhile is not replaced.
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
    kPutBack,  // `replaced_` holds what was replaced
  };

  OutputFile() = default;
  void discard();
  Status replace();
  Status add();

  std::optional<DraftFile> draft_;  // until it is published
  Undo undo_ = Undo::kNothing;
  bool overwrite_ = false;
  std::uint64_t written_ = 0;
  std::filesystem::path path_;
  std::filesystem::path replaced_;
};

}  // namespace mezzotint
