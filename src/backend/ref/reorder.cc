#include "backend/ref/pointwise.h"

namespace mezzotint::ref {

double reorder_at(const OpView& /*view*/, std::size_t /*output*/, const std::int64_t* index,
                  const Elements& elements) {
  return elements.input(0, index);
}

}  // namespace mezzotint::ref
