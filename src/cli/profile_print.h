// How a profile looks on a terminal.
#pragma once

#include "profile/profile.h"

namespace mezzotint::cli {

// The verdict first, then groups, then the slowest ops, within kColumns.
void print_profile(const Profile& profile);

}  // namespace mezzotint::cli
