#include <cmath>

#include "backend/ref/pointwise.h"

namespace mezzotint::ref {

double group_norm_coefficients_at(const OpView& view, std::size_t /*output*/,
                                  const std::int64_t* index, const Elements& elements) {
  const std::int64_t channels = view.input(0).type.shape[1];
  const std::int64_t per_group = channels / view.op.attributes.integer("groups", 1);
  const double eps = view.op.attributes.real("eps", 1e-5);
  const std::int64_t first = index[1] / per_group * per_group;

  // All channels of a group have equally many positions, so the group's mean is the mean of means,
  // and its variance the mean of variances plus the variance of the means.
  double mean = 0;
  for (std::int64_t c = first; c < first + per_group; ++c) {
    const std::int64_t at_mean[] = {index[0], c, 0};
    mean += elements.input(0, at_mean) / static_cast<double>(per_group);
  }
  double variance = 0;
  for (std::int64_t c = first; c < first + per_group; ++c) {
    const std::int64_t at_mean[] = {index[0], c, 0};
    const std::int64_t at_variance[] = {index[0], c, 1};
    const double distance = elements.input(0, at_mean) - mean;
    variance +=
        (elements.input(0, at_variance) + distance * distance) / static_cast<double>(per_group);
  }

  const double scale = elements.input(1, &index[1]) / std::sqrt(variance + eps);
  return index[2] == 0 ? scale : elements.input(2, &index[1]) - mean * scale;
}

}  // namespace mezzotint::ref
