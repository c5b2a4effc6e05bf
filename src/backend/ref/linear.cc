#include "backend/ref/pointwise.h"

namespace mezzotint::ref {

double linear_at(const OpView& view, std::size_t /*output*/, const std::int64_t* index,
                 const Elements& elements) {
  double sum = 0;
  for (std::int64_t i = 0; i < view.input(0).type.shape[1]; ++i) {
    const std::int64_t source[] = {index[0], i};
    const std::int64_t weight[] = {index[1], i};
    sum += elements.input(0, source) * elements.input(1, weight);
  }
  if (view.input_count() == 3) {
    sum += elements.input(2, &index[1]);
  }
  return sum;
}

}  // namespace mezzotint::ref
