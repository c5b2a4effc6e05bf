#include "backend/ref/activation.h"
#include "backend/ref/pointwise.h"

namespace mezzotint::ref {

double silu_at(const OpView& /*view*/, std::size_t /*output*/, const std::int64_t* index,
               const Elements& elements) {
  return silu(elements.input(0, index));
}

}  // namespace mezzotint::ref
