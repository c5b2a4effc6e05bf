#include "pipeline/text_files.h"

#include <algorithm>
#include <iterator>

#include "base/check.h"
#include "pipeline/outputs.h"

namespace mezzotint {

Result<TextFiles> TextFiles::create(std::span<const PlannedText> planned, bool overwrite) {
  std::vector<OutputFile> files;
  for (const PlannedText& text : planned) {
    auto file = OutputFile::create(text.path, overwrite, text.reserved_bytes);
    if (!file) {
      return file.error();
    }
    files.push_back(std::move(*file));
  }
  return TextFiles(std::move(files));
}

Status TextFiles::write(std::string_view name, std::string_view text) {
  const auto found = std::ranges::find_if(
      files_, [&](const OutputFile& file) { return file.path().filename() == name; });
  check(found != files_.end(), "a text's file was created before the work");
  order_.push_back(static_cast<std::size_t>(std::distance(files_.begin(), found)));
  return found->write(std::as_bytes(std::span(text)));
}

Status TextFiles::commit() {
  std::vector<OutputFile*> files;
  for (const std::size_t index : order_) {
    files.push_back(&files_[index]);
  }
  return mezzotint::commit(files);
}

std::vector<std::filesystem::path> TextFiles::written() const {
  std::vector<std::filesystem::path> paths;
  for (const std::size_t index : order_) {
    paths.push_back(files_[index].path());
  }
  return paths;
}

}  // namespace mezzotint
