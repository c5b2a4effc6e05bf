#include "backend/ref/pointwise.h"

namespace mezzotint::ref {

double conv3d_at(const OpView& view, std::size_t /*output*/, const std::int64_t* index,
                 const Elements& elements) {
  const Shape& x = view.input(0).type.shape;
  const Shape& weight = view.input(1).type.shape;
  const std::int64_t stride = view.op.attributes.integer("stride", 1);
  const std::int64_t padding = view.op.attributes.integer("padding", 0);
  const std::int64_t out_channel = index[1];

  double sum = 0;
  for (std::int64_t c = 0; c < weight[1]; ++c) {
    for (std::int64_t kd = 0; kd < weight[2]; ++kd) {
      for (std::int64_t kh = 0; kh < weight[3]; ++kh) {
        for (std::int64_t kw = 0; kw < weight[4]; ++kw) {
          const std::int64_t d = index[2] * stride - padding + kd;
          const std::int64_t h = index[3] * stride - padding + kh;
          const std::int64_t w = index[4] * stride - padding + kw;
          if (d < 0 || d >= x[2] || h < 0 || h >= x[3] || w < 0 || w >= x[4]) {
            continue;
          }
          const std::int64_t source[] = {index[0], c, d, h, w};
          const std::int64_t tap[] = {out_channel, c, kd, kh, kw};
          sum += elements.input(0, source) * elements.input(1, tap);
        }
      }
    }
  }
  if (view.input_count() == 3) {
    sum += elements.input(2, &out_channel);
  }
  return sum;
}

}  // namespace mezzotint::ref
