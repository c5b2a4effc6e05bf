#include "base/output_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <utility>

#include "base/check.h"
#include "base/error.h"

namespace mezzotint {
namespace {

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

Error cannot_write(const std::filesystem::path& path, int failure) {
  return resource_error(
      "{}: cannot write: {}{}", path.string(), std::strerror(failure),
      failure == ENOSPC || failure == EDQUOT ? "; free some space or choose another folder" : "");
}

Error cannot_name(const std::filesystem::path& path, int failure) {
  return resource_error("{}: cannot move the finished file into place: {}", path.string(),
                        std::strerror(failure));
}

}  // namespace

Result<OutputFile> OutputFile::create(const std::filesystem::path& path, bool overwrite,
                                      std::uint64_t reserve_bytes, DraftKind kind) {
  if (Status status = check_replaceable(path, overwrite); !status) {
    return status.error();
  }
  auto draft = DraftFile::create(path, kind);
  if (!draft) {
    return draft.error();
  }
  if (overwrite) {
    draft->take_mode_of(path);
  }
  if (reserve_bytes > 0) {
    if (Status status = draft->reserve(reserve_bytes); !status) {
      return status.error();
    }
  }
  OutputFile file;
  file.draft_ = *std::move(draft);
  file.path_ = path;
  file.overwrite_ = overwrite;
  return file;
}

OutputFile::OutputFile(OutputFile&& other) noexcept
    : draft_(std::exchange(other.draft_, std::nullopt)),
      undo_(std::exchange(other.undo_, Undo::kNothing)),
      overwrite_(other.overwrite_),
      written_(other.written_),
      path_(std::move(other.path_)),
      replaced_(std::move(other.replaced_)) {}

OutputFile& OutputFile::operator=(OutputFile&& other) noexcept {
  std::swap(draft_, other.draft_);
  std::swap(undo_, other.undo_);
  std::swap(overwrite_, other.overwrite_);
  std::swap(written_, other.written_);
  std::swap(path_, other.path_);
  std::swap(replaced_, other.replaced_);
  return *this;
}

OutputFile::~OutputFile() {
  discard();
}

void OutputFile::discard() {
  draft_.reset();
  switch (std::exchange(undo_, Undo::kNothing)) {
    case Undo::kNothing: break;
    case Undo::kRemove: ::unlink(path_.c_str()); break;
    case Undo::kPutBack: ::rename(replaced_.c_str(), path_.c_str()); break;
  }
}

Status OutputFile::write(std::span<const std::byte> bytes) {
  check(draft_.has_value(), "a published file is written to");
  if (const int failure = write_all(draft_->descriptor(), written_, bytes); failure != 0) {
    return cannot_write(path_, failure);
  }
  written_ += bytes.size();
  return {};
}

Status OutputFile::publish() {
  check(draft_.has_value(), "a file is published twice");
  // The reservation may be longer than the content.
  if (::ftruncate(draft_->descriptor(), static_cast<off_t>(written_)) != 0 ||
      ::fsync(draft_->descriptor()) != 0) {
    return cannot_write(path_, errno);
  }
  if (Status status = overwrite_ ? replace() : add(); !status) {
    return status;
  }
  draft_.reset();
  sync_folder_of(path_);
  return {};
}

Status OutputFile::replace() {
  if (Status status = check_replaceable(path_, /*overwrite=*/true); !status) {
    return status;
  }
  if (draft_->appear() == 0) {
    undo_ = Undo::kRemove;
    return {};
  }
  draft_->take_mode_of(path_);
  if (const int failure = draft_->hide(); failure != 0) {
    return cannot_name(path_, failure);
  }
  std::filesystem::path hidden = draft_->release_hidden_name();
  if (::renameat2(AT_FDCWD, hidden.c_str(), AT_FDCWD, path_.c_str(), RENAME_EXCHANGE) == 0) {
    replaced_ = std::move(hidden);
    undo_ = Undo::kPutBack;
    return {};
  }
  if (::rename(hidden.c_str(), path_.c_str()) != 0) {
    const int failure = errno;
    ::unlink(hidden.c_str());
    return cannot_name(path_, failure);
  }
  return {};
}

Status OutputFile::add() {
  const int failure = draft_->appear();
  if (failure == EEXIST) {
    return invalid_input("{}: appeared while working; it was left as it is", path_.string());
  }
  if (failure != 0) {
    return cannot_name(path_, failure);
  }
  undo_ = Undo::kRemove;
  return {};
}

void OutputFile::keep() {
  if (std::exchange(undo_, Undo::kNothing) == Undo::kPutBack) {
    ::unlink(replaced_.c_str());
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
