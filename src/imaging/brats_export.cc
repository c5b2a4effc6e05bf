#include "imaging/brats_export.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>

#include "base/check.h"
#include "imaging/crop_or_pad.h"
#include "imaging/reorient.h"

namespace mezzotint {
namespace {

Reorientation to_brats_frame(const Affine& affine) {
  const auto to_frame = reorientation_to(affine, "LPS+");
  check(to_frame.ok(), "LPS+ is a frame");
  return *to_frame;
}

template <typename T>
VolumeOf<T> to_brats_grid(VolumeOf<T> volume) {
  const Reorientation to_frame = to_brats_frame(volume.affine);
  if (!to_frame.is_identity()) {
    volume = reorient(volume, to_frame);
  }
  return volume.dims == kBratsDims ? std::move(volume) : crop_or_pad(volume, kBratsDims, T{});
}

}  // namespace

void rescale_to_unit(std::span<float> values) {
  if (values.empty()) {
    return;
  }
  const auto [lowest, highest] = std::minmax_element(values.begin(), values.end());
  const float low = *lowest;
  const float range = *highest - low;
  for (float& value : values) {
    value = range > 0 ? (value - low) / range : 0.0F;
  }
}

void exchange_labels(std::span<std::uint8_t> labels) {
  constexpr std::array<std::uint8_t, 5> kExchanged{0, 2, 1, 3, 0};
  for (std::uint8_t& label : labels) {
    check(label < kExchanged.size(), "BraTS labels are 0 to 4");
    label = kExchanged[label];
  }
}

Grid brats_grid(const Grid& grid) {
  return crop_or_pad(reorient(grid, to_brats_frame(grid.affine)), kBratsDims);
}

Volume brats_export(Volume volume) {
  rescale_to_unit(volume.data);
  return to_brats_grid(std::move(volume));
}

LabelVolume brats_export(LabelVolume mask) {
  exchange_labels(mask.data);
  return to_brats_grid(std::move(mask));
}

}  // namespace mezzotint
