#include <cmath>

#include "backend/ref/pointwise.h"

namespace mezzotint::ref {

double timestep_embedding_at(const OpView& view, std::size_t /*output*/, const std::int64_t* index,
                             const Elements& elements) {
  const std::int64_t half = view.op.attributes.integer("dim", 0) / 2;
  const double max_period = view.op.attributes.real("max_period", 1000.0);
  if (index[1] >= 2 * half) {
    return 0;
  }
  const double exponent = static_cast<double>(index[1] % half) / static_cast<double>(half);
  const double angle = elements.input(0, index) * std::pow(max_period, -exponent);
  return index[1] < half ? std::cos(angle) : std::sin(angle);
}

}  // namespace mezzotint::ref
