// What a tuned network is tried on: a mask, brought to the model's grid and encoded.
#pragma once

#include <filesystem>
#include <optional>
#include <vector>

#include "mezzotint/result.h"
#include "pipeline/bench_subject.h"

namespace mezzotint {

// `given`; else the first of the masks in the folder `masks` beside the checkpoint; nothing when
// there is none. kInvalidInput when one is given for random weights, which have no labels.
Result<std::optional<std::filesystem::path>> tune_mask(
    const Subject& subject, const std::optional<std::filesystem::path>& given);

// Channels [C, z, y, x]: the mask's, or without one those of ellipsoids one within the other: a
// brain, in it the other labels.
Result<std::vector<float>> tune_condition(const Subject& subject,
                                          const std::optional<std::filesystem::path>& mask);

}  // namespace mezzotint
