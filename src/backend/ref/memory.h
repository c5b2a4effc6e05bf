// Elements of values in memory, and loops over all positions of a value.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "backend/backend.h"
#include "backend/ref/pointwise.h"
#include "base/thread_team.h"
#include "graph/graph.h"

namespace mezzotint::ref {

// `data` holds the whole value in its layout and dtype: float32 or float64, or int32 to be read.
[[nodiscard]] double load_element(const ValueType& type, const std::byte* data,
                                  const std::int64_t* index);
void store_element(const ValueType& type, std::byte* data, const std::int64_t* index, double value);

// The elements of an op whose inputs are all in memory, parameters as row-major float32.
class MemoryElements : public Elements {
 public:
  // Outputs k with stored[k] are in memory too.
  MemoryElements(const OpView& view, std::span<const Buffer> inputs,
                 std::span<const Buffer> outputs, std::vector<bool> stored)
      : view_(view), inputs_(inputs), outputs_(outputs), stored_(std::move(stored)) {}

  [[nodiscard]] double input(std::size_t i, const std::int64_t* index) const override;
  [[nodiscard]] std::optional<double> stored_output(std::size_t k,
                                                    const std::int64_t* index) const override;

 private:
  OpView view_;
  std::span<const Buffer> inputs_;
  std::span<const Buffer> outputs_;
  std::vector<bool> stored_;
};

// The position of row-major element `flat`.
void unflatten(const Shape& shape, std::int64_t flat, std::int64_t* index);

// Calls body(flat, index) for every element, in blocks spread over the team.
template <typename Body>
void for_each_element(const Shape& shape, const ThreadTeam& team, const Body& body) {
  constexpr std::int64_t kBlock = 64;  // cheap elements share the cost of handing out work
  const std::int64_t elements = shape.elements();
  team.parallel_for((elements + kBlock - 1) / kBlock, [&](std::int64_t block) {
    std::vector<std::int64_t> index(shape.rank());
    const std::int64_t end = std::min(elements, (block + 1) * kBlock);
    for (std::int64_t flat = block * kBlock; flat < end; ++flat) {
      unflatten(shape, flat, index.data());
      body(flat, index.data());
    }
  });
}

}  // namespace mezzotint::ref
