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
  std::vector<PlannedText> planned;
  std::vector<fs::path> paths;
  for (const Form& form : kForms) {
    paths.push_back(folder / form.name);
    planned.push_back({paths.back(), form.reserved_bytes});
  }
  if (Status status = check_outputs_spare_inputs(paths, inputs); !status) {
    return status.error();
  }
  auto made = OutputFolder::make_for_results(folder, overwrite);
  if (!made) {
    return made.error();
  }
  auto files = TextFiles::create(planned, overwrite);
  if (!files) {
    return files.error();
  }
  return ProfileFiles(std::move(*made), std::move(*files));
}

Status ProfileFiles::write(const Profile& profile) {
  for (const Form& form : kForms) {
    if (Status status = files_.write(form.name, form.text(profile)); !status) {
      return status;
    }
  }
  return files_.commit();
}

}  // namespace mezzotint
