#include <vector>

#include "backend/ref/pointwise.h"
#include "base/check.h"

namespace mezzotint::ref {

double concat_at(const OpView& view, std::size_t /*output*/, const std::int64_t* index,
                 const Elements& elements) {
  std::vector<std::int64_t> position(index, index + view.output().type.shape.rank());
  for (std::size_t i = 0; i < view.input_count(); ++i) {
    const std::int64_t channels = view.input(i).type.shape[1];
    if (position[1] < channels) {
      return elements.input(i, position.data());
    }
    position[1] -= channels;
  }
  check_failed("channel beyond the last input of concat");
}

}  // namespace mezzotint::ref
