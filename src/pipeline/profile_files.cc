#include "pipeline/profile_files.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "pipeline/outputs.h"
#include "report/profile_html.h"
#include "report/profile_json.h"
#include "report/trace_json.h"

namespace mezzotint {
namespace {

namespace fs = std::filesystem;

struct Form {
  std::string_view name;
  std::uint64_t reserved_bytes;  // more than a network of some hundred ops has taken
  std::string (*text)(const Profile&);
};

constexpr Form kForms[] = {{"profile.json", 2 << 20, profile_json},
                           {"trace.json", 16 << 20, trace_json},
                           {"report.html", 2 << 20, profile_html}};

}  // namespace

Result<ProfileFiles> ProfileFiles::create(const fs::path& folder, bool overwrite,
                                          std::span<const fs::path> inputs) {
  std::vector<fs::path> paths;
  for (const Form& form : kForms) {
    paths.push_back(folder / form.name);
  }
  if (Status status = check_outputs_spare_inputs(paths, inputs); !status) {
    return status.error();
  }
  auto made = OutputFolder::make_for_results(folder, overwrite);
  if (!made) {
    return made.error();
  }
  ProfileFiles files(std::move(*made));
  for (std::size_t i = 0; i < paths.size(); ++i) {
    auto file = OutputFile::create(paths[i], overwrite, kForms[i].reserved_bytes);
    if (!file) {
      return file.error();
    }
    files.files_.push_back(std::move(*file));
  }
  return files;
}

Status ProfileFiles::write(const Profile& profile) {
  std::vector<OutputFile*> order;
  for (std::size_t i = 0; i < files_.size(); ++i) {
    const std::string text = kForms[i].text(profile);
    if (Status status = files_[i].write(std::as_bytes(std::span(text))); !status) {
      return status;
    }
    order.push_back(&files_[i]);
  }
  return commit(order);
}

std::vector<fs::path> ProfileFiles::paths() const {
  std::vector<fs::path> paths;
  for (const OutputFile& file : files_) {
    paths.push_back(file.path());
  }
  return paths;
}

}  // namespace mezzotint
