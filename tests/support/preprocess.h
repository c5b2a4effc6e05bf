// What the reference's preprocessing cases need to be compared with.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace mezzotint::testing {

// [C][x][y][z] row-major, as the fixtures store volumes, to x fastest.
template <typename T>
std::vector<T> reverse_axes(const std::vector<float>& values,
                            const std::array<std::int64_t, 3>& dims) {
  std::vector<T> result(values.size());
  const auto voxels = static_cast<std::size_t>(dims[0] * dims[1] * dims[2]);
  for (std::size_t first = 0; first < values.size(); first += voxels) {
    std::size_t in = first;
    for (std::int64_t x = 0; x < dims[0]; ++x) {
      for (std::int64_t y = 0; y < dims[1]; ++y) {
        for (std::int64_t z = 0; z < dims[2]; ++z, ++in) {
          const std::int64_t out = (z * dims[1] + y) * dims[0] + x;
          result[first + static_cast<std::size_t>(out)] = static_cast<T>(values[in]);
        }
      }
    }
  }
  return result;
}

// The reference interpolates along three axes in float32 (three roundings of values up to 1) from
// positions rounded in float32 (up to the longest side, times the slope 1 of each axis), then maps
// to a range of `range`.
inline double resize_bound(const std::array<std::int64_t, 3>& from,
                           const std::array<std::int64_t, 3>& to, double range) {
  const auto longest = static_cast<double>(std::max(*std::max_element(from.begin(), from.end()),
                                                    *std::max_element(to.begin(), to.end())));
  return range * std::ldexp(1.0, -24) * (3 + 3 * longest);
}

}  // namespace mezzotint::testing
