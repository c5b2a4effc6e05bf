// Where measurements of this machine are kept between runs.
#pragma once

#include <filesystem>

#include "mezzotint/result.h"

namespace mezzotint {

// `given` unless it is empty, else $MEZZOTINT_CACHE, else $XDG_CACHE_HOME/mezzotint, else
// $HOME/.cache/mezzotint. A variable that is empty counts as unset, and so does a relative
// XDG_CACHE_HOME, as its specification demands. kNotFound when all are unset.
[[nodiscard]] Result<std::filesystem::path> cache_folder(const std::filesystem::path& given = {});

// The same, created with the folders above it where missing (mode 0700). kResource when that fails,
// kInvalidInput when something else has the name. That it exists does not mean that it is writable.
[[nodiscard]] Result<std::filesystem::path> make_cache_folder(
    const std::filesystem::path& given = {});

}  // namespace mezzotint
