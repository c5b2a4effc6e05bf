// What a study leaves in a folder, all or none: VARIANT.profile.json of each variant that ran,
// tuned.plan.json where the study tuned, study.json and report.html.
#pragma once

#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "mezzotint/result.h"
#include "pipeline/output_folder.h"
#include "pipeline/text_files.h"
#include "report/study.h"

namespace mezzotint {

class StudyFiles {
 public:
  // Before the work. Makes the folder where it is missing. One that holds anything is refused
  // without `overwrite`; with it, files of these names are replaced and others stay, and a file
  // that the job reads (`inputs`) is never replaced. `variants`: all that may run.
  static Result<StudyFiles> create(const std::filesystem::path& folder, bool overwrite,
                                   std::span<const std::string_view> variants,
                                   std::span<const std::filesystem::path> inputs);

  // Under their names, which are returned in the order above.
  Result<std::vector<std::filesystem::path>> write(const Study& study);

 private:
  StudyFiles(OutputFolder folder, TextFiles files)
      : folder_(std::move(folder)), files_(std::move(files)) {}

  OutputFolder folder_;
  TextFiles files_;
};

}  // namespace mezzotint
