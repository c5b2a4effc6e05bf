// What a profile leaves: profile.json, trace.json and report.html in one folder, all or none.
#pragma once

#include <filesystem>
#include <span>
#include <vector>

#include "base/output_file.h"
#include "mezzotint/result.h"
#include "pipeline/output_folder.h"
#include "profile/profile.h"

namespace mezzotint {

class ProfileFiles {
 public:
  // Before the work. Makes the folder where it is missing. One that holds anything is refused
  // without `overwrite`; with it, the three files are replaced and others stay, and a file that the
  // job reads (`inputs`) is never replaced.
  static Result<ProfileFiles> create(const std::filesystem::path& folder, bool overwrite,
                                     std::span<const std::filesystem::path> inputs);

  // All three under their names.
  Status write(const Profile& profile);

  // In the order of their names above.
  [[nodiscard]] std::vector<std::filesystem::path> paths() const;

 private:
  explicit ProfileFiles(OutputFolder folder) : folder_(std::move(folder)) {}

  OutputFolder folder_;
  std::vector<OutputFile> files_;
};

}  // namespace mezzotint
