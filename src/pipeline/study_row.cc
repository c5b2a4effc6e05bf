#include "pipeline/study_row.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "base/error.h"
#include "pipeline/profile_model.h"

namespace mezzotint {

void describe_row(std::vector<Profile> profiles, StudyRow& row) {
  std::ranges::stable_sort(profiles, {},
                           [](const Profile& profile) { return profile.plain_seconds.median; });
  std::vector<double> medians;
  for (const Profile& profile : profiles) {
    medians.push_back(profile.plain_seconds.median);
  }
  row.profile = std::move(profiles[profiles.size() / 2]);
  row.seconds = medians.size() > 1 ? spread_of(std::move(medians)) : row.profile.plain_seconds;
  double busy = 0;
  double attainable = 0;
  for (const OpProfile& op : row.profile.ops) {
    row.loops += op.loops;
    row.tasks += op.tasks;
    row.kernels += op.kernels;
    busy = std::accumulate(op.busy_seconds.begin(), op.busy_seconds.end(), busy);
    attainable += op.attainable_seconds;
    if (op.bottleneck == Bottleneck::kConversion) {
      row.conversions += 1;
      row.conversion_share += op.share;
    } else if (op.kind.ends_with("conv3d")) {
      row.convolution_share += op.share;
    }
  }
  row.task_seconds = row.tasks > 0 ? busy / row.tasks : 0;
  row.kernel_seconds = row.kernels > 0 ? busy / row.kernels : 0;
  if (attainable > 0) {
    row.attained = attainable / row.profile.sum_seconds;
  }
}

Status check_rounds(const StudyRow& row) {
  if (row.seconds.relative() > kMostSpread) {
    return resource_error(
        "machine is busy: rounds of {} spread by {:.0f} %, at most {:.0f} %; wait, or --force",
        row.name, 100 * row.seconds.relative(), 100 * kMostSpread);
  }
  return {};
}

}  // namespace mezzotint
