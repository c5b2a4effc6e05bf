// From what a recorder heard to the ops and groups of a profile.
#pragma once

#include <span>
#include <vector>

#include "profile/profile.h"
#include "profile/recorder.h"

namespace mezzotint {

// One per record, in their order, with shares of the sum of all medians, rooflines and classes.
[[nodiscard]] std::vector<OpProfile> profile_ops(std::span<const OpRecord> records,
                                                 const Calibration& machine);

// Slowest first. `ops` are profile_ops(records).
[[nodiscard]] std::vector<GroupProfile> group_ops(std::span<const OpRecord> records,
                                                  std::span<const OpProfile> ops);

// Fills units, matrix_share and narrow_share from the profile's ops and machine.
void share_among_units(Profile& profile);

}  // namespace mezzotint
