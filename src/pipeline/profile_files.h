// What a profile leaves: profile.json, trace.json and report.html in one folder, all or none.
#pragma once

#include <filesystem>
#include <span>
#include <utility>
#include <vector>

#include "mezzotint/result.h"
#include "pipeline/output_folder.h"
#include "pipeline/text_files.h"
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

  // After that, in the order of their names above.
  [[nodiscard]] std::vector<std::filesystem::path> paths() const { return files_.written(); }

 private:
  ProfileFiles(OutputFolder folder, TextFiles files)
      : folder_(std::move(folder)), files_(std::move(files)) {}

  OutputFolder folder_;
  TextFiles files_;
};

}  // namespace mezzotint
