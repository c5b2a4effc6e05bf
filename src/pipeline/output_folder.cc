#include "pipeline/output_folder.h"

#include <utility>

#include "base/error.h"

namespace mezzotint {

namespace fs = std::filesystem;

Result<OutputFolder> OutputFolder::make(std::string_view what, const fs::path& folder) {
  std::error_code error;
  OutputFolder made;
  const fs::file_status there = fs::status(folder, error);
  if (fs::exists(there) && !fs::is_directory(there)) {
    return invalid_input("{}: {}: is a file, expected a folder; choose another name", what,
                         folder.string());
  }
  if (fs::create_directory(folder, error)) {
    made.made_ = folder;
  }
  if (error || !fs::is_directory(folder, error)) {
    return resource_error(
        "{}: {}: cannot make this folder{}{}; the folder above it must be "
        "there, and may be written to",
        what, folder.string(), error ? ": " : "", error ? error.message() : "");
  }
  return made;
}

Result<OutputFolder> OutputFolder::make_for_results(const fs::path& folder, bool overwrite) {
  auto made = make("out", folder);
  std::error_code unreadable;
  if (made && !overwrite && !fs::is_empty(folder, unreadable)) {
    return invalid_input("out: {}: {}; choose another folder, or --overwrite", folder.string(),
                         unreadable ? unreadable.message() : "there are files in this folder");
  }
  return made;
}

OutputFolder::OutputFolder(OutputFolder&& other) noexcept
    : made_(std::exchange(other.made_, fs::path())) {}

OutputFolder& OutputFolder::operator=(OutputFolder&& other) noexcept {
  std::swap(made_, other.made_);
  return *this;
}

OutputFolder::~OutputFolder() {
  std::error_code full;
  if (!made_.empty()) {
    fs::remove(made_, full);
  }
}

}  // namespace mezzotint
