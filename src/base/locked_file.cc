#include "base/locked_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "base/draft_file.h"
#include "base/error.h"

namespace mezzotint {
namespace {

// False only when another process holds it.
bool lock(int descriptor) {
  return ::flock(descriptor, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK;
}

Error in_use(const std::filesystem::path& path) {
  return resource_error("{}: another process is working on it", path.string());
}

Error cannot_write(const std::filesystem::path& path, int failure) {
  return resource_error("{}: cannot write: {}", path.string(), std::strerror(failure));
}

// The system's own words for these are about its flags.
Error cannot_open(const std::filesystem::path& path, int failure) {
  struct stat status {};
  const bool is_there = ::lstat(path.c_str(), &status) == 0;
  if (is_there && S_ISLNK(status.st_mode)) {
    return invalid_input("{}: is a symbolic link, which is not followed", path.string());
  }
  if (is_there && S_ISDIR(status.st_mode)) {
    return invalid_input("{}: is a folder, expected a file", path.string());
  }
  if (is_there && !S_ISREG(status.st_mode)) {
    return invalid_input("{}: not a regular file", path.string());
  }
  return make_error(failure == ENOENT ? ErrorCode::kNotFound : ErrorCode::kInvalidInput,
                    "{}: cannot open: {}", path.string(), std::strerror(failure));
}

}  // namespace

LockedFile::LockedFile(Descriptor descriptor, std::filesystem::path path)
    : descriptor_(std::move(descriptor)), path_(std::move(path)) {}

Result<LockedFile> LockedFile::open(const std::filesystem::path& path) {
  // Its holder may remove it between our open and our lock: we then hold a file without a name and
  // look again. Each time another holder has come and gone.
  constexpr int kMostAttempts = 100;
  for (int attempt = 0; attempt < kMostAttempts; ++attempt) {
    // O_NONBLOCK: opening a named pipe must not hang before the type is known.
    Descriptor descriptor(::open(path.c_str(), O_WRONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
    if (!descriptor.is_open()) {
      return cannot_open(path, errno);
    }
    struct stat status {};
    if (::fstat(descriptor.number(), &status) != 0 || !S_ISREG(status.st_mode)) {
      return invalid_input("{}: not a regular file", path.string());
    }
    if (!lock(descriptor.number())) {
      return in_use(path);
    }
    LockedFile file(std::move(descriptor), path);
    if (file.is_in_place()) {
      return file;
    }
  }
  return in_use(path);
}

Result<LockedFile> LockedFile::create(const std::filesystem::path& path,
                                      std::span<const std::byte> start, std::uint64_t length) {
  auto draft = DraftFile::create(path);
  if (!draft) {
    return draft.error();
  }
  if (Status status = draft->reserve(length); !status) {
    return status.error();
  }
  if (const int failure = write_all(draft->descriptor(), 0, start); failure != 0) {
    return cannot_write(path, failure);
  }
  if (::ftruncate(draft->descriptor(), static_cast<off_t>(length)) != 0 ||
      ::fsync(draft->descriptor()) != 0) {
    return cannot_write(path, errno);
  }
  if (!lock(draft->descriptor())) {
    return in_use(path);
  }
  if (const int failure = draft->appear(); failure != 0) {
    return failure == EEXIST
               ? invalid_input("{}: appeared while working; it was left as it is", path.string())
               : cannot_write(path, failure);
  }
  sync_folder_of(path);
  return LockedFile(draft->release(), path);
}

Status LockedFile::write_at(std::uint64_t offset, std::span<const std::byte> bytes) {
  if (const int failure = write_all(descriptor_.number(), offset, bytes); failure != 0) {
    return cannot_write(path_, failure);
  }
  return {};
}

Status LockedFile::sync() {
  if (::fdatasync(descriptor_.number()) != 0) {
    return cannot_write(path_, errno);
  }
  return {};
}

bool LockedFile::is_in_place() const {
  struct stat held {};
  struct stat named {};
  return ::fstat(descriptor_.number(), &held) == 0 && ::lstat(path_.c_str(), &named) == 0 &&
         held.st_dev == named.st_dev && held.st_ino == named.st_ino;
}

void LockedFile::remove() {
  if (is_in_place()) {
    ::unlink(path_.c_str());
  }
}

}  // namespace mezzotint
