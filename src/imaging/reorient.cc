#include "imaging/reorient.h"

#include <algorithm>

#include "base/error.h"

namespace mezzotint {
namespace {

template <typename T>
VolumeOf<T> reorient_volume(const VolumeOf<T>& volume, const Reorientation& reorientation) {
  VolumeOf<T> result{reorient(static_cast<const Grid&>(volume), reorientation), {}};
  result.data.resize(volume.data.size());
  const Dims3 strides{1, volume.dims[0], volume.dims[0] * volume.dims[1]};
  Dims3 step{};
  std::int64_t start = 0;
  for (std::size_t a = 0; a < 3; ++a) {
    const std::int64_t stride = strides[static_cast<std::size_t>(reorientation.source[a])];
    step[a] = reorientation.flip[a] ? -stride : stride;
    start += reorientation.flip[a] ? (result.dims[a] - 1) * stride : 0;
  }
  std::size_t out = 0;
  for (std::int64_t z = 0; z < result.dims[2]; ++z) {
    for (std::int64_t y = 0; y < result.dims[1]; ++y) {
      std::int64_t in = start + z * step[2] + y * step[1];
      for (std::int64_t x = 0; x < result.dims[0]; ++x, in += step[0], ++out) {
        result.data[out] = volume.data[static_cast<std::size_t>(in)];
      }
    }
  }
  return result;
}

}  // namespace

bool Reorientation::is_identity() const {
  return *this == Reorientation{};
}

Result<std::array<AxisDirection, 3>> parse_frame(std::string_view frame) {
  constexpr std::string_view kLetters = "RLAPSI";  // world axis = position / 2, first is positive
  std::string_view letters = frame;
  if (letters.size() == 4 && letters.back() == '+') {
    letters.remove_suffix(1);
  }
  std::array<AxisDirection, 3> directions;
  std::array<int, 3> seen{};
  bool known = letters.size() == 3;
  for (std::size_t i = 0; known && i < 3; ++i) {
    const std::size_t position = kLetters.find(letters[i]);
    known = position != std::string_view::npos && seen[position / 2]++ == 0;
    if (known) {
      directions[i] = {static_cast<int>(position / 2), position % 2 == 0};
    }
  }
  if (!known) {
    return invalid_input(
        "frame \"{}\": expected one letter each of R/L, A/P and S/I, such as RAS+ or LPS+", frame);
  }
  return directions;
}

Result<Reorientation> reorientation_to(const Affine& affine, std::string_view frame) {
  const auto wanted = parse_frame(frame);
  if (!wanted) {
    return wanted.error();
  }
  const auto present = axis_directions(affine);
  Reorientation result;
  for (std::size_t a = 0; a < 3; ++a) {
    const auto* source = std::find_if(
        present.begin(), present.end(),
        [&](const AxisDirection& direction) { return direction.world == (*wanted)[a].world; });
    result.source[a] = static_cast<int>(source - present.begin());
    result.flip[a] = source->positive != (*wanted)[a].positive;
  }
  return result;
}

Reorientation inverse(const Reorientation& reorientation) {
  Reorientation result;
  for (std::size_t a = 0; a < 3; ++a) {
    const auto source = static_cast<std::size_t>(reorientation.source[a]);
    result.source[source] = static_cast<int>(a);
    result.flip[source] = reorientation.flip[a];
  }
  return result;
}

Grid reorient(const Grid& grid, const Reorientation& reorientation) {
  Grid result;
  Affine to_old{};  // new voxel -> old voxel
  to_old[3][3] = 1;
  for (std::size_t a = 0; a < 3; ++a) {
    const auto source = static_cast<std::size_t>(reorientation.source[a]);
    result.dims[a] = grid.dims[source];
    to_old[source][a] = reorientation.flip[a] ? -1 : 1;
    to_old[source][3] = reorientation.flip[a] ? static_cast<double>(grid.dims[source] - 1) : 0;
  }
  result.affine = multiply(grid.affine, to_old);
  return result;
}

LabelVolume reorient(const LabelVolume& volume, const Reorientation& reorientation) {
  return reorient_volume(volume, reorientation);
}

Volume reorient(const Volume& volume, const Reorientation& reorientation) {
  return reorient_volume(volume, reorientation);
}

}  // namespace mezzotint
