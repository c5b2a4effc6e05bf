// Any text as the JSON beside a volume, and as the origin of an image that it may list. What is one
// has a hash for each file.
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
    check(!claim->files.empty(), "a sidecar lists files");
    check(claim->files.size() <= size, "no more than it has bytes");
    std::size_t texts = claim->version.size() + claim->model.size() + claim->mask.size() +
                        claim->sampler.size() + claim->run_sha256.size();
    for (const ClaimedFile& file : claim->files) {
      check(!file.sha256.empty(), "each file has a hash");
      texts += file.name.size() + file.sha256.size();
    }
    // A byte that is not UTF-8 ends the parse, so no text grows.
    check(texts <= size, "texts are those of the file");
    if (const auto origin = origin_of(*claim, "scan.nii", hash)) {
      check(origin->sidecar.empty(), "a text has no place");
    }
  } else {
    check(claim.error().message == "scan.json: is not the sidecar of a generated volume",
          "an error says what is wrong");
  }
  return 0;
}
