#include "imaging/encode.h"

#include <algorithm>
#include <vector>

#include "base/check.h"

namespace mezzotint {
namespace {

// Where one output position of a linear resize takes its two values from.
struct Tap {
  std::int64_t low = 0;
  std::int64_t high = 0;
  double fraction = 0;  // weight of `high`
};

std::vector<Tap> taps(std::int64_t from, std::int64_t to) {
  std::vector<Tap> result(static_cast<std::size_t>(to));
  const double ratio = static_cast<double>(from) / static_cast<double>(to);
  for (std::size_t i = 0; i < result.size(); ++i) {
    const double position = std::clamp((static_cast<double>(i) + 0.5) * ratio - 0.5, 0.0,
                                       static_cast<double>(from - 1));
    const auto low = static_cast<std::int64_t>(position);
    result[i] = {low, std::min(low + 1, from - 1), position - static_cast<double>(low)};
  }
  return result;
}

}  // namespace

void encode_labels(const LabelVolume& volume, std::span<const int> labels, float off, float on,
                   std::span<float> out) {
  check(out.size() == labels.size() * volume.data.size(), "one value per channel and voxel");
  auto target = out.begin();
  for (const int label : labels) {
    target = std::transform(volume.data.begin(), volume.data.end(), target,
                            [=](std::uint8_t value) { return value == label ? on : off; });
  }
}

void encode_labels_resized(const LabelVolume& volume, std::span<const int> labels,
                           const Dims3& dims, float off, float on, std::span<float> out) {
  check(out.size() == labels.size() * static_cast<std::size_t>(dims[0] * dims[1] * dims[2]),
        "one value per channel and voxel");
  const auto x_taps = taps(volume.dims[0], dims[0]);
  const auto y_taps = taps(volume.dims[1], dims[1]);
  const auto z_taps = taps(volume.dims[2], dims[2]);
  auto target = out.begin();
  for (const int label : labels) {
    const auto along_x = [&](const Tap& x, std::int64_t y, std::int64_t z) {
      const double low = volume.at(x.low, y, z) == label ? 1 : 0;
      const double high = volume.at(x.high, y, z) == label ? 1 : 0;
      return low + (high - low) * x.fraction;
    };
    const auto along_y = [&](const Tap& x, const Tap& y, std::int64_t z) {
      const double low = along_x(x, y.low, z);
      return low + (along_x(x, y.high, z) - low) * y.fraction;
    };
    for (const Tap& z : z_taps) {
      for (const Tap& y : y_taps) {
        for (const Tap& x : x_taps) {
          const double low = along_y(x, y, z.low);
          const double value = low + (along_y(x, y, z.high) - low) * z.fraction;
          *target++ = static_cast<float>(off + (static_cast<double>(on) - off) * value);
        }
      }
    }
  }
}

}  // namespace mezzotint
