// Files that profile and tune left, read to be compared, and what the comparison leaves.
#pragma once

#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "mezzotint/result.h"
#include "pipeline/output_folder.h"
#include "pipeline/text_files.h"
#include "report/compare.h"
#include "report/plan_comparison.h"

namespace mezzotint {

using AnyComparison = std::variant<Comparison, PlanComparison>;

// Where each file is: a folder stands for its profile.json. 2 to kMostCompared, or kInvalidInput.
[[nodiscard]] Result<std::vector<std::filesystem::path>> compared_files(
    std::span<const std::filesystem::path> given);

// Of all profiles or all plans, the first being the base. One line with the file's name when one
// cannot be read, is neither, or is of another kind than the first; and when plans are for
// different models or sizes.
[[nodiscard]] Result<AnyComparison> compare_files(std::span<const std::filesystem::path> files);

// compare.json and compare.html in a folder, or one page where the name ends in .html: all or none.
class ComparisonFiles {
 public:
  // Before the work. Makes the folder where it is missing. What is there is refused without
  // `overwrite`; with it, other files stay, and none of `inputs` is ever replaced.
  static Result<ComparisonFiles> create(const std::filesystem::path& out, bool overwrite,
                                        std::span<const std::filesystem::path> inputs);

  Status write(const AnyComparison& comparison);

  // After that.
  [[nodiscard]] std::vector<std::filesystem::path> paths() const { return files_.written(); }

 private:
  ComparisonFiles(std::optional<OutputFolder> folder, TextFiles files,
                  std::vector<std::string> names)
      : folder_(std::move(folder)), files_(std::move(files)), names_(std::move(names)) {}

  std::optional<OutputFolder> folder_;
  TextFiles files_;
  std::vector<std::string> names_;  // of the files
};

}  // namespace mezzotint
