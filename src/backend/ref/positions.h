#pragma once

#include <cstdint>
#include <vector>

#include "graph/types.h"

namespace mezzotint::ref {

// Walks the spatial positions (all axes after N and C) of one sample, last axis fastest.
class Positions {
 public:
  Positions(const Shape& shape, std::int64_t sample) : shape_(shape), index_(shape.rank(), 0) {
    index_[0] = sample;
  }

  [[nodiscard]] bool done() const { return done_; }

  void next() {
    for (std::size_t axis = shape_.rank(); axis-- > 2;) {
      if (++index_[axis] < shape_[axis]) {
        return;
      }
      index_[axis] = 0;
    }
    done_ = true;
  }

  // The full index of this position in a channel; valid until the next call.
  [[nodiscard]] const std::int64_t* at_channel(std::int64_t channel) {
    index_[1] = channel;
    return index_.data();
  }

 private:
  const Shape& shape_;
  std::vector<std::int64_t> index_;
  bool done_ = false;
};

}  // namespace mezzotint::ref
