// A folder for the files of a job.
#pragma once

#include <filesystem>
#include <string_view>

#include "mezzotint/result.h"

namespace mezzotint {

// A folder that goes again when it was made here and nothing came into it. Hold it longer than the
// files.
class OutputFolder {
 public:
  // There already, or made in one that is. After `what` kInvalidInput when a file is there,
  // kResource when the folder cannot be made.
  static Result<OutputFolder> make(std::string_view what, const std::filesystem::path& folder);

  // The same for --out. One that holds anything is refused without `overwrite`: kInvalidInput.
  static Result<OutputFolder> make_for_results(const std::filesystem::path& folder, bool overwrite);

  OutputFolder(OutputFolder&& other) noexcept;
  OutputFolder& operator=(OutputFolder&& other) noexcept;
  OutputFolder(const OutputFolder&) = delete;
  OutputFolder& operator=(const OutputFolder&) = delete;
  ~OutputFolder();

 private:
  OutputFolder() = default;
  std::filesystem::path made_;
};

}  // namespace mezzotint
