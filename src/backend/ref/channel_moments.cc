#include "backend/ref/pointwise.h"
#include "backend/ref/positions.h"

namespace mezzotint::ref {
namespace {

double mean_of(const Shape& x, const std::int64_t* index, const Elements& elements) {
  double sum = 0;
  double count = 0;
  for (Positions position(x, index[0]); !position.done(); position.next()) {
    sum += elements.input(0, position.at_channel(index[1]));
    count += 1;
  }
  return sum / count;
}

}  // namespace

double channel_moments_at(const OpView& view, std::size_t /*output*/, const std::int64_t* index,
                          const Elements& elements) {
  const Shape& x = view.input(0).type.shape;
  const double mean = mean_of(x, index, elements);
  if (index[2] == 0) {
    return mean;
  }
  double squares = 0;
  double count = 0;
  for (Positions position(x, index[0]); !position.done(); position.next()) {
    const double deviation = elements.input(0, position.at_channel(index[1])) - mean;
    squares += deviation * deviation;
    count += 1;
  }
  return squares / count;
}

}  // namespace mezzotint::ref
