// What a sidecar tells of the volume beside it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

namespace mezzotint {

// Texts are as the file has them, and empty where it has none.
struct Origin {
  std::filesystem::path sidecar;
  std::string version;  // of Mezzotint
  std::string model;    // file names, without folders
  std::string mask;
  std::string sampler;
  std::int64_t steps = 0;
  std::optional<std::uint64_t> seed;  // nothing: the noise came from a file
};

// Of the sidecar beside `image`. Nothing when there is none, or when it is no sidecar of
// Mezzotint's: other programs put JSON beside images too.
[[nodiscard]] std::optional<Origin> read_origin(const std::filesystem::path& image);

}  // namespace mezzotint
