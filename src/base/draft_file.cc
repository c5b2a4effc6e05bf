#include "base/draft_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <utility>

#include "base/error.h"

namespace mezzotint {
namespace {

constexpr unsigned kMostAttempts = 1000;

// How the kernel lets an unnamed file be named: linkat() on the descriptor itself needs a
// privilege.
std::filesystem::path path_of_descriptor(int descriptor) {
  return fmt::format("/proc/self/fd/{}", descriptor);
}

// Empty where the file system knows no unnamed files or where /proc, which would name one at the
// end, is missing.
Descriptor open_unnamed(const std::filesystem::path& folder) {
  Descriptor file(::open(folder.c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC, 0666));
  if (file.is_open() && ::access(path_of_descriptor(file.number()).c_str(), F_OK) != 0) {
    file.close();
  }
  return file;
}

}  // namespace

std::filesystem::path folder_of(const std::filesystem::path& path) {
  const std::filesystem::path parent = path.parent_path();
  return parent.empty() ? std::filesystem::path(".") : parent;
}

void sync_folder_of(const std::filesystem::path& path) {
  const Descriptor folder(::open(folder_of(path).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (folder.is_open()) {
    ::fsync(folder.number());
  }
}

int write_all(int descriptor, std::uint64_t offset, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t count =
        ::pwrite(descriptor, bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (count < 0 && errno == EINTR) {
      continue;
    }
    if (count <= 0) {
      return count < 0 ? errno : EIO;
    }
    bytes = bytes.subspan(static_cast<std::size_t>(count));
    offset += static_cast<std::uint64_t>(count);
  }
  return 0;
}

Result<DraftFile> DraftFile::create(const std::filesystem::path& target, DraftKind kind) {
  DraftFile draft;
  draft.target_ = target;
  if (kind == DraftKind::kUnnamed) {
    draft.descriptor_ = open_unnamed(folder_of(target));
  }
  if (!draft.descriptor_.is_open()) {
    if (const int failure = draft.create_hidden(); failure != 0) {
      return resource_error(
          "{}: cannot create a file here: {}; choose a folder that is there and may be written to",
          target.string(), std::strerror(failure));
    }
  }
  return draft;
}

DraftFile::DraftFile(DraftFile&& other) noexcept
    : descriptor_(std::move(other.descriptor_)),
      target_(std::move(other.target_)),
      hidden_(std::exchange(other.hidden_, {})) {}

DraftFile& DraftFile::operator=(DraftFile&& other) noexcept {
  std::swap(descriptor_, other.descriptor_);
  std::swap(target_, other.target_);
  std::swap(hidden_, other.hidden_);
  return *this;
}

DraftFile::~DraftFile() {
  if (!hidden_.empty()) {
    ::unlink(hidden_.c_str());
  }
}

std::filesystem::path DraftFile::hidden_name(unsigned attempt) const {
  return folder_of(target_) / fmt::format(".mezzotint.{}.{}.tmp", ::getpid(), attempt);
}

int DraftFile::create_hidden() {
  for (unsigned attempt = 0; attempt < kMostAttempts; ++attempt) {
    const std::filesystem::path name = hidden_name(attempt);
    descriptor_ = Descriptor(
        ::open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666));
    if (descriptor_.is_open()) {
      hidden_ = name;
      return 0;
    }
    if (errno != EEXIST) {
      return errno;
    }
  }
  return EEXIST;
}

Status DraftFile::reserve(std::uint64_t bytes) {
  const int failure = ::posix_fallocate(descriptor(), 0, static_cast<off_t>(bytes));
  if (failure == ENOSPC || failure == EDQUOT || failure == EFBIG) {
    return resource_error(
        "{}: cannot reserve {} bytes: {}; free some space or choose another folder",
        target_.string(), bytes, std::strerror(failure));
  }
  return {};
}

void DraftFile::take_mode_of(const std::filesystem::path& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode)) {
    ::fchmod(descriptor(), status.st_mode & 0777U);
  }
}

int DraftFile::appear() {
  if (hidden_.empty()) {
    return ::linkat(AT_FDCWD, path_of_descriptor(descriptor()).c_str(), AT_FDCWD, target_.c_str(),
                    AT_SYMLINK_FOLLOW) == 0
               ? 0
               : errno;
  }
  // link() refuses an existing name, which rename() would replace. File systems without hard links
  // (FAT, some network mounts) fall back to a checked rename.
  if (::link(hidden_.c_str(), target_.c_str()) == 0) {
    ::unlink(hidden_.c_str());
  } else if (errno == EEXIST) {
    return EEXIST;
  } else {
    struct stat status {};
    if (::lstat(target_.c_str(), &status) == 0) {
      return EEXIST;
    }
    if (::rename(hidden_.c_str(), target_.c_str()) != 0) {
      return errno;
    }
  }
  hidden_.clear();
  return 0;
}

int DraftFile::hide() {
  for (unsigned attempt = 0; hidden_.empty() && attempt < kMostAttempts; ++attempt) {
    const std::filesystem::path name = hidden_name(attempt);
    if (::linkat(AT_FDCWD, path_of_descriptor(descriptor()).c_str(), AT_FDCWD, name.c_str(),
                 AT_SYMLINK_FOLLOW) == 0) {
      hidden_ = name;
    } else if (errno != EEXIST) {
      return errno;
    }
  }
  return hidden_.empty() ? EEXIST : 0;
}

std::filesystem::path DraftFile::release_hidden_name() {
  return std::exchange(hidden_, {});
}

}  // namespace mezzotint
