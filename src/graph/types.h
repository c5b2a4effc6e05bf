// Shapes, memory layouts and rates: the type of a value.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace mezzotint {

// Logical dimensions, outermost first: activations are (N, C, D, H, W), vectors (N, C).
class Shape {
 public:
  Shape() = default;
  Shape(std::initializer_list<std::int64_t> dims) : dims_(dims) {}
  explicit Shape(std::vector<std::int64_t> dims) : dims_(std::move(dims)) {}

  [[nodiscard]] std::size_t rank() const { return dims_.size(); }
  [[nodiscard]] std::int64_t operator[](std::size_t axis) const { return dims_.at(axis); }
  [[nodiscard]] const std::vector<std::int64_t>& dims() const { return dims_; }
  // Product of the dimensions; 1 for rank 0. Graph building has checked that it fits.
  [[nodiscard]] std::int64_t elements() const;
  // "[1, 64, 8, 8, 8]"
  [[nodiscard]] std::string to_string() const;
  [[nodiscard]] Shape with(std::size_t axis, std::int64_t dim) const;

  friend bool operator==(const Shape&, const Shape&) = default;

 private:
  std::vector<std::int64_t> dims_;
};

// Order of the elements in memory. kChannelsLast (N, D, H, W, C) exists for rank 5 only.
enum class Layout : std::uint8_t { kRowMajor, kChannelsLast };

[[nodiscard]] std::string_view name_of(Layout layout);
[[nodiscard]] std::optional<Layout> layout_from_name(std::string_view name);

// Offset in elements of logical position `index` (shape.rank() entries) under `layout`.
[[nodiscard]] std::int64_t element_offset(const Shape& shape, Layout layout,
                                          const std::int64_t* index);

// Whether both layouts store the elements of `shape` in one order, as with a single channel: then
// the same memory is in either.
[[nodiscard]] bool same_order(const Shape& shape, Layout a, Layout b);

// How often a value changes: with the model, with the volume (mask), or with the sampler's step.
enum class Rate : std::uint8_t { kModel, kVolume, kStep };

[[nodiscard]] std::string_view name_of(Rate rate);
[[nodiscard]] std::optional<Rate> rate_from_name(std::string_view name);

}  // namespace mezzotint
