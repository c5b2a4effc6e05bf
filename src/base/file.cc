#include "base/file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <utility>

#include "base/error.h"
#include "base/sha256.h"

namespace mezzotint {
namespace {

std::string reason() {
  return std::strerror(errno);
}

// Directories are synced too, or a crash may lose the rename.
void sync_directory(const std::filesystem::path& directory) {
  const int descriptor = ::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor >= 0) {
    ::fsync(descriptor);
    ::close(descriptor);
  }
}

std::filesystem::path folder_of(const std::filesystem::path& path) {
  const std::filesystem::path parent = path.parent_path();
  return parent.empty() ? std::filesystem::path(".") : parent;
}

// Whether a file may appear under `path`.
Status check_replaceable(const std::filesystem::path& path, bool overwrite) {
  struct stat status {};
  if (::lstat(path.c_str(), &status) != 0) {
    return {};
  }
  if (S_ISDIR(status.st_mode)) {
    return invalid_input("{}: is a folder, expected a file name", path.string());
  }
  if (!overwrite) {
    return invalid_input("{}: exists already; choose another name or pass --overwrite",
                         path.string());
  }
  const bool dangling = S_ISLNK(status.st_mode) && ::stat(path.c_str(), &status) != 0;
  if (!dangling && !S_ISREG(status.st_mode)) {
    return invalid_input("{}: is not a regular file and is not replaced; choose another name",
                         path.string());
  }
  return {};
}

}  // namespace

Result<InputFile> InputFile::open(const std::filesystem::path& path) {
  InputFile file;
  file.path_ = path;
  // O_NONBLOCK: opening a named pipe must not hang before the type is known.
  file.descriptor_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (file.descriptor_ < 0) {
    const ErrorCode code = errno == ENOENT ? ErrorCode::kNotFound : ErrorCode::kInvalidInput;
    return make_error(code, "{}: cannot open: {}", path.string(), reason());
  }
  struct stat status {};
  if (::fstat(file.descriptor_, &status) != 0 || !S_ISREG(status.st_mode)) {
    return invalid_input("{}: not a regular file", path.string());
  }
  file.size_ = static_cast<std::uint64_t>(status.st_size);
  return file;
}

InputFile::InputFile(InputFile&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)),
      size_(other.size_),
      path_(std::move(other.path_)) {}

InputFile& InputFile::operator=(InputFile&& other) noexcept {
  std::swap(descriptor_, other.descriptor_);
  std::swap(size_, other.size_);
  std::swap(path_, other.path_);
  return *this;
}

InputFile::~InputFile() {
  if (descriptor_ >= 0) {
    ::close(descriptor_);
  }
}

Status InputFile::read_at(std::uint64_t offset, std::span<std::byte> out) const {
  std::size_t done = 0;
  while (done < out.size()) {
    const ssize_t count = ::pread(descriptor_, out.data() + done, out.size() - done,
                                  static_cast<off_t>(offset + done));
    if (count < 0 && errno == EINTR) {
      continue;
    }
    if (count < 0) {
      return invalid_input("{}: cannot read: {}", path_.string(), reason());
    }
    if (count == 0) {
      return invalid_input("{}: ends at byte {}, expected {} more: the file is truncated",
                           path_.string(), offset + done, out.size() - done);
    }
    done += static_cast<std::size_t>(count);
  }
  return {};
}

Result<std::vector<std::byte>> read_file(const std::filesystem::path& path, std::uint64_t limit) {
  auto file = InputFile::open(path);
  if (!file) {
    return file.error();
  }
  if (file->size() > limit) {
    return invalid_input("{}: {} bytes, larger than the limit of {} bytes", path.string(),
                         file->size(), limit);
  }
  std::vector<std::byte> bytes(file->size());
  if (Status status = file->read_at(0, bytes); !status) {
    return status.error();
  }
  return bytes;
}

Result<std::string> hash_file(const std::filesystem::path& path, const CancelToken* cancel) {
  auto file = InputFile::open(path);
  if (!file) {
    return file.error();
  }
  Sha256 hash;
  std::vector<std::byte> chunk(std::size_t{1} << 20);
  for (std::uint64_t offset = 0; offset < file->size(); offset += chunk.size()) {
    if (cancel != nullptr && cancel->requested()) {
      return make_error(ErrorCode::kCancelled, "stopped on request");
    }
    const auto count = std::min<std::uint64_t>(chunk.size(), file->size() - offset);
    const std::span<std::byte> part = std::span(chunk).first(count);
    if (Status status = file->read_at(offset, part); !status) {
      return status.error();
    }
    hash.update(part);
  }
  return hash.hex();
}

Result<OutputFile> OutputFile::create(const std::filesystem::path& path, bool overwrite,
                                      std::uint64_t reserve_bytes) {
  if (Status status = check_replaceable(path, overwrite); !status) {
    return status.error();
  }
  OutputFile file;
  file.path_ = path;
  file.overwrite_ = overwrite;
  for (unsigned attempt = 0; attempt < 1000 && file.descriptor_ < 0; ++attempt) {
    file.temporary_ = folder_of(path) /
                      fmt::format(".{}.{}.{}.tmp", path.filename().string(), ::getpid(), attempt);
    file.descriptor_ =
        ::open(file.temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
    if (file.descriptor_ < 0 && errno != EEXIST) {
      break;
    }
  }
  if (file.descriptor_ < 0) {
    return resource_error("{}: cannot create a file here: {}", path.string(), reason());
  }
  if (reserve_bytes > 0) {
    const int failure = ::posix_fallocate(file.descriptor_, 0, static_cast<off_t>(reserve_bytes));
    if (failure == ENOSPC || failure == EDQUOT || failure == EFBIG) {
      return resource_error(
          "{}: cannot reserve {} bytes: {}; free some space or choose another folder",
          path.string(), reserve_bytes, std::strerror(failure));
    }
  }
  return file;
}

OutputFile::OutputFile(OutputFile&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)),
      undo_(std::exchange(other.undo_, Undo::kNothing)),
      overwrite_(other.overwrite_),
      written_(other.written_),
      path_(std::move(other.path_)),
      temporary_(std::move(other.temporary_)) {}

OutputFile& OutputFile::operator=(OutputFile&& other) noexcept {
  std::swap(descriptor_, other.descriptor_);
  std::swap(undo_, other.undo_);
  std::swap(overwrite_, other.overwrite_);
  std::swap(written_, other.written_);
  std::swap(path_, other.path_);
  std::swap(temporary_, other.temporary_);
  return *this;
}

OutputFile::~OutputFile() {
  discard();
}

void OutputFile::discard() {
  if (descriptor_ >= 0) {
    ::close(descriptor_);
    ::unlink(temporary_.c_str());
    descriptor_ = -1;
  }
  switch (std::exchange(undo_, Undo::kNothing)) {
    case Undo::kNothing: break;
    case Undo::kRemove: ::unlink(path_.c_str()); break;
    case Undo::kPutBack: ::rename(temporary_.c_str(), path_.c_str()); break;
  }
}

Status OutputFile::write(std::span<const std::byte> bytes) {
  std::size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t count = ::write(descriptor_, bytes.data() + done, bytes.size() - done);
    if (count < 0 && errno == EINTR) {
      continue;
    }
    if (count <= 0) {
      return resource_error("{}: cannot write: {}", path_.string(), reason());
    }
    done += static_cast<std::size_t>(count);
  }
  written_ += bytes.size();
  return {};
}

Status OutputFile::publish() {
  // The reservation may be longer than the content.
  if (::ftruncate(descriptor_, static_cast<off_t>(written_)) != 0 || ::fsync(descriptor_) != 0) {
    return resource_error("{}: cannot write: {}", path_.string(), reason());
  }
  if (Status status = overwrite_ ? replace() : add(); !status) {
    return status;
  }
  ::close(descriptor_);
  descriptor_ = -1;
  sync_directory(folder_of(path_));
  return {};
}

Status OutputFile::replace() {
  if (Status status = check_replaceable(path_, /*overwrite=*/true); !status) {
    return status;
  }
  if (::renameat2(AT_FDCWD, temporary_.c_str(), AT_FDCWD, path_.c_str(), RENAME_EXCHANGE) == 0) {
    undo_ = Undo::kPutBack;
    return {};
  }
  const bool is_new = errno == ENOENT;
  if (::rename(temporary_.c_str(), path_.c_str()) != 0) {
    return resource_error("{}: cannot move the finished file into place: {}", path_.string(),
                          reason());
  }
  undo_ = is_new ? Undo::kRemove : Undo::kNothing;
  return {};
}

Status OutputFile::add() {
  // link() refuses an existing name, which rename() would replace. File systems without hard links
  // (FAT, some network mounts) fall back to a checked rename.
  if (::link(temporary_.c_str(), path_.c_str()) == 0) {
    ::unlink(temporary_.c_str());
  } else if (errno == EEXIST) {
    return invalid_input("{}: appeared while working; it was left as it is", path_.string());
  } else {
    struct stat status {};
    if (::lstat(path_.c_str(), &status) == 0 || ::rename(temporary_.c_str(), path_.c_str()) != 0) {
      return resource_error("{}: cannot move the finished file into place: {}", path_.string(),
                            reason());
    }
  }
  undo_ = Undo::kRemove;
  return {};
}

void OutputFile::keep() {
  if (std::exchange(undo_, Undo::kNothing) == Undo::kPutBack) {
    ::unlink(temporary_.c_str());
  }
}

Status OutputFile::commit() {
  Status status = publish();
  if (status) {
    keep();
  }
  return status;
}

}  // namespace mezzotint
