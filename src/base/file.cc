#include "base/file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/cancel.h"
#include "base/error.h"
#include "base/sha256.h"

namespace mezzotint {
namespace {

std::string reason() {
  return std::strerror(errno);
}

}  // namespace

Result<InputFile> InputFile::open(const std::filesystem::path& path) {
  InputFile file;
  file.path_ = path;
  // O_NONBLOCK: opening a named pipe must not hang before the type is known.
  file.descriptor_ = Descriptor(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!file.descriptor_.is_open()) {
    const ErrorCode code = errno == ENOENT ? ErrorCode::kNotFound : ErrorCode::kInvalidInput;
    return make_error(code, "{}: cannot open: {}", path.string(), reason());
  }
  struct stat status {};
  if (::fstat(file.descriptor_.number(), &status) != 0 || !S_ISREG(status.st_mode)) {
    return invalid_input("{}: not a regular file", path.string());
  }
  file.size_ = static_cast<std::uint64_t>(status.st_size);
  return file;
}

Status InputFile::read_at(std::uint64_t offset, std::span<std::byte> out) const {
  std::size_t done = 0;
  while (done < out.size()) {
    const ssize_t count = ::pread(descriptor_.number(), out.data() + done, out.size() - done,
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

Result<std::vector<std::byte>> InputFile::start(std::size_t most) const {
  std::vector<std::byte> bytes(std::min<std::uint64_t>(size_, most));
  if (Status status = read_at(0, bytes); !status) {
    return status.error();
  }
  return bytes;
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

Result<std::string> read_text_file(const std::filesystem::path& path, std::uint64_t limit) {
  const auto bytes = read_file(path, limit);
  if (!bytes) {
    return bytes.error();
  }
  return std::string(reinterpret_cast<const char*>(bytes->data()), bytes->size());
}

Result<std::string> hash_file(const std::filesystem::path& path, const CancelToken* cancel) {
  auto file = InputFile::open(path);
  if (!file) {
    return file.error();
  }
  Sha256 hash;
  std::vector<std::byte> chunk(std::size_t{1} << 20);
  for (std::uint64_t offset = 0; offset < file->size(); offset += chunk.size()) {
    if (stop_requested(cancel)) {
      return stopped();
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

}  // namespace mezzotint
