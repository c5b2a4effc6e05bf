#include <algorithm>
#include <cmath>

#include "backend/ref/pointwise.h"

namespace mezzotint::ref {
namespace {

// Where output position `i` of one axis lies between two input positions.
struct Between {
  std::int64_t position[2];
  double weight[2];
};

Between between(std::int64_t i, std::int64_t extent) {
  const double source = std::max(0.0, (static_cast<double>(i) + 0.5) / 2.0 - 0.5);
  const auto lower = static_cast<std::int64_t>(std::floor(source));
  const double fraction = source - static_cast<double>(lower);
  return {{lower, std::min(lower + 1, extent - 1)}, {1.0 - fraction, fraction}};
}

}  // namespace

double upsample_trilinear_at(const OpView& view, std::size_t /*output*/, const std::int64_t* index,
                             const Elements& elements) {
  const Shape& x = view.input(0).type.shape;
  const Between d = between(index[2], x[2]);
  const Between h = between(index[3], x[3]);
  const Between w = between(index[4], x[4]);
  double sum = 0;
  for (const int i : {0, 1}) {
    for (const int j : {0, 1}) {
      for (const int k : {0, 1}) {
        const std::int64_t source[] = {index[0], index[1], d.position[i], h.position[j],
                                       w.position[k]};
        sum += d.weight[i] * h.weight[j] * w.weight[k] * elements.input(0, source);
      }
    }
  }
  return sum;
}

}  // namespace mezzotint::ref
