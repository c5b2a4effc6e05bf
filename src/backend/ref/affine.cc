#include "backend/ref/activation.h"
#include "backend/ref/pointwise.h"

namespace mezzotint::ref {

double affine_at(const OpView& view, std::size_t /*output*/, const std::int64_t* index,
                 const Elements& elements) {
  const Attributes& attributes = view.op.attributes;
  const std::int64_t channel = attributes.integer("channel_offset", 0) + index[1];
  const std::int64_t scale_index[] = {index[0], channel, 0};
  const std::int64_t shift_index[] = {index[0], channel, 1};
  const double y =
      elements.input(0, index) * elements.input(1, scale_index) + elements.input(1, shift_index);
  return attributes.text("activation", "none") == "silu" ? silu(y) : y;
}

}  // namespace mezzotint::ref
