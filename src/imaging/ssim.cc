#include "imaging/ssim.h"

#include <algorithm>

namespace mezzotint {
namespace {

struct Range {
  std::int64_t begin;
  std::int64_t end;
};

Range window(std::int64_t centre, std::int64_t radius, std::int64_t extent) {
  return {std::max<std::int64_t>(centre - radius, 0), std::min(centre + radius + 1, extent)};
}

struct Sums {
  double a = 0;
  double b = 0;
  double aa = 0;
  double bb = 0;
  double ab = 0;

  void add(double x, double y) {
    a += x;
    b += y;
    aa += x * x;
    bb += y * y;
    ab += x * y;
  }
};

double index_of(const Sums& sums, double count, double data_range) {
  constexpr double kK1 = 0.01;
  constexpr double kK2 = 0.03;
  const double c1 = kK1 * data_range * kK1 * data_range;
  const double c2 = kK2 * data_range * kK2 * data_range;
  const double mean_a = sums.a / count;
  const double mean_b = sums.b / count;
  const double var_a = sums.aa / count - mean_a * mean_a;
  const double var_b = sums.bb / count - mean_b * mean_b;
  const double cov = sums.ab / count - mean_a * mean_b;
  return (2 * mean_a * mean_b + c1) * (2 * cov + c2) /
         ((mean_a * mean_a + mean_b * mean_b + c1) * (var_a + var_b + c2));
}

// Along one axis, whose neighbours are `stride` apart.
void dilate_axis(std::vector<std::uint8_t>& mask, std::int64_t extent, std::int64_t stride,
                 int radius) {
  const auto count = static_cast<std::int64_t>(mask.size());
  const std::vector<std::uint8_t> from = mask;
  for (std::int64_t i = 0; i < count; ++i) {
    const std::int64_t place = i / stride % extent;
    const Range near = window(place, radius, extent);
    for (std::int64_t k = near.begin; k < near.end; ++k) {
      if (from[static_cast<std::size_t>(i + (k - place) * stride)] != 0) {
        mask[static_cast<std::size_t>(i)] = 1;
      }
    }
  }
}

}  // namespace

std::optional<double> ssim(std::span<const float> a, std::span<const float> b,
                           std::span<const std::uint8_t> inside, const Dims3& dims,
                           const ThreadTeam& team, const SsimOptions& options) {
  const std::int64_t width = dims[0];
  const std::int64_t height = dims[1];
  const std::int64_t depth = dims[2];
  struct Plane {
    double sum = 0;
    std::int64_t voxels = 0;
  };
  std::vector<Plane> planes(static_cast<std::size_t>(depth));
  const auto offset = [&](std::int64_t z, std::int64_t y) { return (z * height + y) * width; };
  const auto index_at = [&](std::int64_t x, std::int64_t y, std::int64_t z) {
    const Range xs = window(x, options.radius, width);
    const Range ys = window(y, options.radius, height);
    const Range zs = window(z, options.radius, depth);
    Sums sums;
    for (std::int64_t k = zs.begin; k < zs.end; ++k) {
      for (std::int64_t j = ys.begin; j < ys.end; ++j) {
        const auto row = static_cast<std::size_t>(offset(k, j));
        for (auto i = static_cast<std::size_t>(xs.begin); i < static_cast<std::size_t>(xs.end);
             ++i) {
          sums.add(a[row + i], b[row + i]);
        }
      }
    }
    const std::int64_t count = (xs.end - xs.begin) * (ys.end - ys.begin) * (zs.end - zs.begin);
    return index_of(sums, static_cast<double>(count), options.data_range);
  };
  team.parallel_for(depth, [&](std::int64_t z) {
    Plane& plane = planes[static_cast<std::size_t>(z)];
    for (std::int64_t y = 0; y < height; ++y) {
      for (std::int64_t x = 0; x < width; ++x) {
        if (inside[static_cast<std::size_t>(offset(z, y) + x)] != 0) {
          plane.sum += index_at(x, y, z);
          ++plane.voxels;
        }
      }
    }
  });
  Plane total;
  for (const Plane& plane : planes) {
    total.sum += plane.sum;
    total.voxels += plane.voxels;
  }
  if (total.voxels == 0) {
    return std::nullopt;
  }
  return total.sum / static_cast<double>(total.voxels);
}

std::vector<std::uint8_t> dilate(std::span<const std::uint8_t> mask, const Dims3& dims,
                                 int radius) {
  std::vector<std::uint8_t> result(mask.size());
  std::ranges::transform(mask, result.begin(),
                         [](std::uint8_t value) { return static_cast<std::uint8_t>(value != 0); });
  dilate_axis(result, dims[0], 1, radius);
  dilate_axis(result, dims[1], dims[0], radius);
  dilate_axis(result, dims[2], dims[0] * dims[1], radius);
  return result;
}

}  // namespace mezzotint
