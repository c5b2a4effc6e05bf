#include "graph/types.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/check.h"

namespace mezzotint {

std::int64_t Shape::elements() const {
  std::int64_t product = 1;
  for (const std::int64_t dim : dims_) {
    product *= dim;
  }
  return product;
}

std::string Shape::to_string() const {
  return fmt::format("[{}]", fmt::join(dims_, ", "));
}

Shape Shape::with(std::size_t axis, std::int64_t dim) const {
  Shape copy = *this;
  copy.dims_.at(axis) = dim;
  return copy;
}

std::string_view name_of(Layout layout) {
  return layout == Layout::kRowMajor ? "row_major" : "channels_last";
}

std::optional<Layout> layout_from_name(std::string_view name) {
  for (const Layout layout : {Layout::kRowMajor, Layout::kChannelsLast}) {
    if (name_of(layout) == name) {
      return layout;
    }
  }
  return std::nullopt;
}

std::int64_t element_offset(const Shape& shape, Layout layout, const std::int64_t* index) {
  if (layout == Layout::kChannelsLast) {
    check(shape.rank() == 5, "channels_last needs rank 5");
    std::int64_t offset = index[0];
    for (const std::size_t axis : {2u, 3u, 4u, 1u}) {
      offset = offset * shape[axis] + index[axis];
    }
    return offset;
  }
  std::int64_t offset = 0;
  for (std::size_t axis = 0; axis < shape.rank(); ++axis) {
    offset = offset * shape[axis] + index[axis];
  }
  return offset;
}

bool same_order(const Shape& shape, Layout a, Layout b) {
  return a == b || shape[1] == 1 || shape[2] * shape[3] * shape[4] == 1;
}

std::string_view name_of(Rate rate) {
  switch (rate) {
    case Rate::kModel: return "model";
    case Rate::kVolume: return "volume";
    case Rate::kStep: return "step";
  }
  return "unknown";
}

std::optional<Rate> rate_from_name(std::string_view name) {
  for (const Rate rate : {Rate::kModel, Rate::kVolume, Rate::kStep}) {
    if (name_of(rate) == name) {
      return rate;
    }
  }
  return std::nullopt;
}

}  // namespace mezzotint
