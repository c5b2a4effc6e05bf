// What the profiles of one variant say, in one row.
#pragma once

#include <vector>

#include "mezzotint/result.h"
#include "profile/profile.h"
#include "report/study.h"

namespace mezzotint {

// Of at least one profile, one a round. Leaves what is not measured with them: errors and pictures.
void describe_row(std::vector<Profile> profiles, StudyRow& row);

// kResource when the rounds' times spread by more than kMostSpread.
[[nodiscard]] Status check_rounds(const StudyRow& row);

}  // namespace mezzotint
