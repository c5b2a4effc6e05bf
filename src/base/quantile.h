// Quantiles of samples, by the two definitions that are in use. Both take sorted samples, at least
// one, and a fraction from 0 to 1.
#pragma once

#include <span>

namespace mezzotint {

// Interpolated between the two nearest samples: a median, and quartiles that a few samples give.
[[nodiscard]] double quantile(std::span<const double> sorted, double fraction);

// By nearest rank: the least sample that at least this part of them does not exceed. It is one of
// the samples, and of fewer than ten the outer tenths are the least and the largest.
[[nodiscard]] double nearest_rank(std::span<const double> sorted, double fraction);

}  // namespace mezzotint
