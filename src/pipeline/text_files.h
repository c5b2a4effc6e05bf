// Texts that a job leaves, all of them or none.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "base/output_file.h"
#include "mezzotint/result.h"

namespace mezzotint {

struct PlannedText {
  std::filesystem::path path;
  std::uint64_t reserved_bytes;  // more than it has taken
};

class TextFiles {
 public:
  // Created before the work: a full disk or a folder that cannot be written is known at once.
  static Result<TextFiles> create(std::span<const PlannedText> planned, bool overwrite);

  // The content of one, by its file's name.
  Status write(std::string_view name, std::string_view text);
  // Those that were written, under their names, in the order of writing.
  Status commit();

  [[nodiscard]] std::vector<std::filesystem::path> written() const;

 private:
  explicit TextFiles(std::vector<OutputFile> files) : files_(std::move(files)) {}

  std::vector<OutputFile> files_;
  std::vector<std::size_t> order_;  // of writing
};

}  // namespace mezzotint
