// A new file that nobody sees yet: what is written to it appears under a name when it is ready, and
// vanishes with the process until then.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>

#include "base/descriptor.h"
#include "mezzotint/result.h"

namespace mezzotint {

enum class DraftKind : std::uint8_t {
  // Without a name (O_TMPFILE), so that not even SIGKILL leaves it behind; as kHidden where the
  // file system cannot do that, as some network mounts and FAT.
  kUnnamed,
  // Under a short hidden name, which a killed process leaves behind.
  kHidden,
};

class DraftFile {
 public:
  // In the folder of `target`, under which it is to appear. The hidden name does not depend on the
  // target's, which may have all 255 bytes that a name can have. kResource when no file can be
  // created there.
  static Result<DraftFile> create(const std::filesystem::path& target,
                                  DraftKind kind = DraftKind::kUnnamed);

  DraftFile(DraftFile&& other) noexcept;
  DraftFile& operator=(DraftFile&& other) noexcept;
  DraftFile(const DraftFile&) = delete;
  DraftFile& operator=(const DraftFile&) = delete;
  // Closes it and removes the hidden name.
  ~DraftFile();

  [[nodiscard]] int descriptor() const { return descriptor_.number(); }

  // Space on the disk, so that a full one is known before the work: kResource.
  Status reserve(std::uint64_t bytes);

  // Gives it the permissions of the regular file at `path`, if there is one.
  void take_mode_of(const std::filesystem::path& path);

  // These give it a name: the target's, which must be free, or a hidden one beside it. Both return
  // 0 or an errno, EEXIST when the name is taken.
  int appear();
  int hide();

  // The hidden name, empty without one; it is then the caller's to remove.
  std::filesystem::path release_hidden_name();
  // The open file, which now has its name.
  Descriptor release() { return std::move(descriptor_); }

 private:
  DraftFile() = default;
  int create_hidden();
  [[nodiscard]] std::filesystem::path hidden_name(unsigned attempt) const;

  Descriptor descriptor_;
  std::filesystem::path target_;
  std::filesystem::path hidden_;  // its name, if it has that
};

// The folder of a path; "." for a bare name.
[[nodiscard]] std::filesystem::path folder_of(const std::filesystem::path& path);

// Folders are synced too, or a crash may lose a name.
void sync_folder_of(const std::filesystem::path& path);

// All of `bytes` from `offset`; 0 or an errno.
int write_all(int descriptor, std::uint64_t offset, std::span<const std::byte> bytes);

}  // namespace mezzotint
