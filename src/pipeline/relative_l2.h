// How far apart two vectors are.
#pragma once

#include <span>

namespace mezzotint {

// |values - truth| / |truth| by Euclid's norm, summed in double in order. 0 where they are equal;
// infinity where their sizes differ, where a value of either is not finite, and where only the
// truth is 0.
[[nodiscard]] double relative_l2(std::span<const float> values, std::span<const float> truth);

// The largest |value - true value|, by the largest |true value|. 0 and infinity as above.
[[nodiscard]] double relative_largest(std::span<const float> values, std::span<const float> truth);

}  // namespace mezzotint
