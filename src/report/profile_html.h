// A profile as a page to read: charts, tables and what to do about it, in one file.
#pragma once

#include <string>

#include "profile/profile.h"

namespace mezzotint {

// One HTML file that asks for no other and for no network, which its own policy forbids; about half
// a megabyte and two kilobytes an op. It holds the profile's JSON without the trace; texts from
// files reach the page as texts only.
[[nodiscard]] std::string profile_html(const Profile& profile);

}  // namespace mezzotint
