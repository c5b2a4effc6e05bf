// Any text as the JSON beside a volume, for both of its readers: the one that looks whether a run's
// files are there, and the one that says where an image comes from. What is no sidecar is nothing
// to either, and what is one has a hash for each file.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"
#include "pipeline/origin.h"
#include "pipeline/sidecar_claim.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace mezzotint;
  const std::string hash = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto claim = parse_sidecar(text, "scan.json");
  if (claim) {
    check(!claim->file_sha256.empty(), "a sidecar lists files");
    check(claim->file_sha256.size() <= size, "no more than it has bytes");
  } else {
    check(claim.error().message == "scan.json: is not the sidecar of a generated volume",
          "an error says what is wrong");
  }
  if (const auto origin = parse_origin(text, "scan.nii", hash)) {
    check(origin->sidecar.empty(), "text has no place");
    check(origin->version.size() + origin->modality.size() + origin->model.size() +
                  origin->mask.size() + origin->sampler.size() <=
              size,
          "texts are those of the file");
  }
  return 0;
}
