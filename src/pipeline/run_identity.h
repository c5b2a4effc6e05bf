// What a volume's bytes follow from, as one hash.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>

#include "imaging/label_map.h"
#include "mezzotint/generate.h"
#include "pipeline/chain.h"
#include "pipeline/model.h"

namespace mezzotint {

struct RunFacts {
  const GenerateRequest& request;
  const Model& model;
  const Chain& chain;
  std::array<std::int64_t, 3> grid{};  // in use; x, y, z
  std::string mask_sha256;             // of the file
  // What the mask's values mean: the given map, or the model's own labels.
  const LabelMap& labels;
  std::optional<std::string> noise_sha256;  // of --noise; nothing: the seed's
  std::string plan_sha256;                  // Session::plan_hash()
};

// SHA-256, hexadecimal, of the program's version, the model, the mask, the noise, the plan (with it
// the backend, the precision and the instruction set) and every setting that the bytes of the
// volume depend on: two runs with one hash make one volume. Names of files and the number of
// threads are not in it.
[[nodiscard]] std::string run_sha256(const RunFacts& facts);

}  // namespace mezzotint
