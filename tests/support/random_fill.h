// Deterministic test data.
#pragma once

#include <cstdint>
#include <vector>

namespace mezzotint::testing {

// Uniform in [low, high), the same on every machine (SplitMix64, Steele et al., OOPSLA 2014).
[[nodiscard]] std::vector<float> random_floats(std::int64_t count, std::uint64_t seed,
                                               float low = -1.0F, float high = 1.0F);

}  // namespace mezzotint::testing
