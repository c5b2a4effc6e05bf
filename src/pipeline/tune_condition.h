// What a tuned network is tried on: a mask, brought to the model's grid and encoded.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "mezzotint/result.h"
#include "pipeline/bench_subject.h"

namespace mezzotint {

struct TuneCondition {
  std::vector<float> channels;  // [C, z, y, x]
  std::string source;           // for people
};

// `mask` when given; else the first of the masks in the folder `masks` beside the checkpoint; else,
// as for random weights, ellipsoids one within the other: a brain, in it the other labels.
Result<TuneCondition> tune_condition(const Subject& subject,
                                     const std::optional<std::filesystem::path>& mask);

}  // namespace mezzotint
