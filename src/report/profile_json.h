// A profile as a file: JSON of schema Profile::kSchema, every field documented in docs/formats.md.
#pragma once

#include <string>
#include <string_view>

#include "mezzotint/result.h"
#include "profile/profile.h"

namespace mezzotint {

// Reads back as an equal profile, but for bytes of texts that are not UTF-8: those become U+FFFD.
[[nodiscard]] std::string profile_json(const Profile& profile);

// `name` is the file's, for errors. The text is hostile: its size, nesting and counts are limited,
// every field is there with its type and within its range, and no other is. kUnsupported for
// another schema, with both numbers.
[[nodiscard]] Result<Profile> read_profile(std::string_view json, std::string_view name);

}  // namespace mezzotint
