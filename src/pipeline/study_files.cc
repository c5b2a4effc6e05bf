#include "pipeline/study_files.h"

#include <cstdint>
#include <utility>

#include "pipeline/outputs.h"
#include "report/profile_json.h"
#include "report/study_html.h"
#include "report/study_json.h"

namespace mezzotint {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kReservedBytes = 2 << 20;  // more than any of them has taken
constexpr std::string_view kPlan = "tuned.plan.json";
constexpr std::string_view kJson = "study.json";
constexpr std::string_view kPage = "report.html";

std::string profile_name(std::string_view variant) {
  return std::string(variant) + ".profile.json";
}

}  // namespace

Result<StudyFiles> StudyFiles::create(const fs::path& folder, bool overwrite,
                                      std::span<const std::string_view> variants,
                                      std::span<const fs::path> inputs) {
  std::vector<fs::path> paths;
  for (const std::string_view variant : variants) {
    paths.push_back(folder / profile_name(variant));
  }
  for (const std::string_view name : {kPlan, kJson, kPage}) {
    paths.push_back(folder / name);
  }
  if (Status status = check_outputs_spare_inputs(paths, inputs); !status) {
    return status.error();
  }
  auto made = OutputFolder::make_for_results(folder, overwrite);
  if (!made) {
    return made.error();
  }
  std::vector<PlannedText> planned;
  for (const fs::path& path : paths) {
    planned.push_back({path, kReservedBytes});
  }
  auto files = TextFiles::create(planned, overwrite);
  if (!files) {
    return files.error();
  }
  return StudyFiles(std::move(*made), std::move(*files));
}

Result<std::vector<fs::path>> StudyFiles::write(const Study& study) {
  std::vector<std::pair<std::string, std::string>> texts;  // by file
  for (const StudyRow& row : study.rows) {
    if (row.absent.empty()) {
      texts.emplace_back(profile_name(row.name), profile_json(row.profile));
    }
  }
  if (!study.tuned_plan.empty()) {
    texts.emplace_back(kPlan, study.tuned_plan);
  }
  texts.emplace_back(kJson, study_json(study));
  texts.emplace_back(kPage, study_html(study));
  for (const auto& [name, text] : texts) {
    if (Status status = files_.write(name, text); !status) {
      return status.error();
    }
  }
  if (Status status = files_.commit(); !status) {
    return status.error();
  }
  return files_.written();
}

}  // namespace mezzotint
