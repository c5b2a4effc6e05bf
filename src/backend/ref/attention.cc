#include <algorithm>
#include <cmath>
#include <vector>

#include "backend/ref/pointwise.h"
#include "backend/ref/positions.h"

namespace mezzotint::ref {

double attention_at(const OpView& view, std::size_t /*output*/, const std::int64_t* index,
                    const Elements& elements) {
  const Shape& qkv = view.input(0).type.shape;
  const std::int64_t heads = view.op.attributes.integer("heads", 1);
  const std::int64_t channels = qkv[1] / (3 * heads);  // of one head
  const std::int64_t head = index[1] / channels;
  const std::int64_t query_channel = head * 3 * channels;
  const std::int64_t key_channel = query_channel + channels;
  const std::int64_t value_channel = key_channel + channels + index[1] % channels;

  std::vector<std::int64_t> query(index, index + qkv.rank());
  std::vector<double> logits;
  for (Positions key(qkv, index[0]); !key.done(); key.next()) {
    double dot = 0;
    for (std::int64_t c = 0; c < channels; ++c) {
      query[1] = query_channel + c;
      dot += elements.input(0, query.data()) * elements.input(0, key.at_channel(key_channel + c));
    }
    logits.push_back(dot / std::sqrt(static_cast<double>(channels)));
  }

  const double largest = *std::max_element(logits.begin(), logits.end());
  double weighted = 0;
  double total = 0;
  Positions key(qkv, index[0]);
  for (const double logit : logits) {
    const double weight = std::exp(logit - largest);
    weighted += weight * elements.input(0, key.at_channel(value_channel));
    total += weight;
    key.next();
  }
  return weighted / total;
}

}  // namespace mezzotint::ref
