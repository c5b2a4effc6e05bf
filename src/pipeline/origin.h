// What a sidecar tells of the volume beside it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace mezzotint {

// Texts are as the file has them, and empty where it has none.
struct Origin {
  std::filesystem::path sidecar;
  std::string version;   // of Mezzotint
  std::string modality;  // of the volume
  std::string model;     // file names, without folders
  std::string mask;
  std::string sampler;
  std::int64_t steps = 0;
  std::optional<std::uint64_t> seed;  // nothing: the noise came from a file
  bool unchanged = false;             // the volume is, byte for byte, the one that was written
};

// From the text of a sidecar, whatever it is: of the volume with this file name, whose file has
// this hash. Nothing unless it is a sidecar of Mezzotint's that lists the volume. `sidecar` stays
// empty.
[[nodiscard]] std::optional<Origin> parse_origin(std::string_view text, const std::string& name,
                                                 const std::string& sha256);

// `sha256` is of the image's file. Nothing unless a sidecar of Mezzotint's beside the image lists
// it: other programs put JSON beside images too.
[[nodiscard]] std::optional<Origin> read_origin(const std::filesystem::path& image,
                                                const std::string& sha256);

}  // namespace mezzotint
