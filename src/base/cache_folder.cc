#include "base/cache_folder.h"

#include <sys/stat.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "base/error.h"

namespace mezzotint {
namespace {

std::filesystem::path variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

// 0, also when they exist already, or the errno of the first that could not be created.
int make_folders(const std::filesystem::path& path) {
  std::filesystem::path made;
  for (const std::filesystem::path& part : path) {
    made /= part;
    if (::mkdir(made.c_str(), 0700) != 0 && errno != EEXIST) {
      return errno;
    }
  }
  return 0;
}

}  // namespace

Result<std::filesystem::path> cache_folder(const std::filesystem::path& given) {
  if (!given.empty()) {
    return given;
  }
  if (auto own = variable("MEZZOTINT_CACHE"); !own.empty()) {
    return own;
  }
  if (const auto caches = variable("XDG_CACHE_HOME"); caches.is_absolute()) {
    return caches / "mezzotint";
  }
  if (const auto home = variable("HOME"); !home.empty()) {
    return home / ".cache" / "mezzotint";
  }
  return make_error(ErrorCode::kNotFound,
                    "no cache folder: MEZZOTINT_CACHE, XDG_CACHE_HOME and HOME are unset; set one "
                    "of them or pass --cache");
}

Result<std::filesystem::path> make_cache_folder(const std::filesystem::path& given) {
  auto path = cache_folder(given);
  if (!path) {
    return path.error();
  }
  const int failure = make_folders(*path);
  struct stat status {};
  if (::stat(path->c_str(), &status) != 0) {
    const int reason = failure == 0 ? errno : failure;
    const bool dangling = ::lstat(path->c_str(), &status) == 0 && S_ISLNK(status.st_mode);
    return resource_error("{}: cannot create the cache folder: {}; pass another with --cache",
                          path->string(),
                          dangling ? "a symbolic link to nothing is there" : std::strerror(reason));
  }
  if (!S_ISDIR(status.st_mode)) {
    return invalid_input(
        "{}: is not a folder, expected one for the cache; pass another with --cache",
        path->string());
  }
  return path;
}

}  // namespace mezzotint
