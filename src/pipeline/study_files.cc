#include "pipeline/study_files.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "base/check.h"
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
  StudyFiles files(std::move(*made));
  for (const fs::path& path : paths) {
    auto file = OutputFile::create(path, overwrite, kReservedBytes);
    if (!file) {
      return file.error();
    }
    files.files_.push_back(std::move(*file));
  }
  return files;
}

OutputFile& StudyFiles::file(std::string_view name) {
  const auto found = std::ranges::find_if(
      files_, [&](const OutputFile& file) { return file.path().filename() == name; });
  check(found != files_.end(), "a study's file was created before the work");
  return *found;
}

Result<std::vector<fs::path>> StudyFiles::write(const Study& study) {
  std::vector<std::pair<OutputFile*, std::string>> texts;
  for (const StudyRow& row : study.rows) {
    if (row.absent.empty()) {
      texts.emplace_back(&file(profile_name(row.name)), profile_json(row.profile));
    }
  }
  if (!study.tuned_plan.empty()) {
    texts.emplace_back(&file(kPlan), study.tuned_plan);
  }
  texts.emplace_back(&file(kJson), study_json(study));
  texts.emplace_back(&file(kPage), study_html(study));
  std::vector<OutputFile*> order;
  std::vector<fs::path> paths;
  for (const auto& [output, text] : texts) {
    if (Status status = output->write(std::as_bytes(std::span(text))); !status) {
      return status.error();
    }
    order.push_back(output);
    paths.push_back(output->path());
  }
  if (Status status = commit(order); !status) {
    return status.error();
  }
  return paths;
}

}  // namespace mezzotint
