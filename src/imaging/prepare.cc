#include "imaging/prepare.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"
#include "base/error.h"

namespace mezzotint {
namespace {

constexpr std::size_t kListed = 5;       // values named in an error
constexpr double kLeastAirShare = 0.9;   // of the outer faces
constexpr double kProbabilityCut = 0.5;  // of a mask of probabilities

bool are_probabilities(const ValueTally& values) {
  return values.nan == 0 && values.lowest >= 0 && values.highest <= 1;
}

// The only value that is not 0, if it is a whole number above 0.
std::optional<std::int64_t> single_value(const ValueTally& values) {
  if (!values.all_whole || values.not_counted != 0) {
    return std::nullopt;
  }
  std::optional<std::int64_t> single;
  for (const auto& [value, count] : values.counts) {
    if (value == 0) {
      continue;
    }
    if (single || value < 0) {
      return std::nullopt;
    }
    single = static_cast<std::int64_t>(value);
  }
  return single;
}

bool all_known(const ValueTally& values, const LabelMap& map) {
  return values.all_whole && values.not_counted == 0 &&
         std::all_of(values.counts.begin(), values.counts.end(), [&](const auto& entry) {
           return map.find(static_cast<std::int64_t>(entry.first)).has_value();
         });
}

Result<Reading> read_probabilities(const NiftiImage& image, const LabelSet& recipe,
                                   std::string_view what) {
  const auto region = region_of_mask(image, what);
  if (!region) {
    return region.error();
  }
  const auto dims = volume_dims(image.header, what);
  if (!dims) {
    return dims.error();
  }
  Reading reading;
  reading.mask.volume = {{*dims, image.header.affine}, {}};
  reading.mask.volume.data.resize(region->inside.size());
  fill_background(reading.mask.volume, *region, static_cast<std::uint8_t>(recipe.brain));
  reading.done.push_back(fmt::format("{} became {}: {} voxels", region->rule,
                                     label_name(recipe, recipe.brain), region->voxels));
  return reading;
}

// The raw value of labels that look raw, as what it means.
Result<Reading> read_raw(const NiftiImage& image, LabelMap map, const LabelSet& recipe,
                         std::string_view what) {
  const RawLabel raw = *recipe.raw;
  map.labels[raw.stored] = static_cast<std::uint8_t>(raw.means);
  auto mask = read_labels(image, map, recipe, what);
  if (!mask) {
    return mask.error();
  }
  const auto moved = count_labels(mask->volume)[static_cast<std::size_t>(raw.means)];
  return Reading{std::move(*mask),
                 {fmt::format("raw label {} became {} ({}): {} voxels", raw.stored, raw.means,
                              label_name(recipe, raw.means), moved)}};
}

// Calls visit(value) for the voxels that have a neighbour outside, NaN left out.
template <typename Visit>
void for_each_on_faces(const NiftiImage& image, const Dims3& dims, const Visit& visit) {
  for (std::int64_t z = 0; z < dims[2]; ++z) {
    for (std::int64_t y = 0; y < dims[1]; ++y) {
      const bool inner_row = z > 0 && z < dims[2] - 1 && y > 0 && y < dims[1] - 1;
      const std::int64_t step = inner_row ? std::max<std::int64_t>(dims[0] - 1, 1) : 1;
      for (std::int64_t x = 0; x < dims[0]; x += step) {
        const double value = image.value((z * dims[1] + y) * dims[0] + x);
        if (!std::isnan(value)) {
          visit(value);
        }
      }
    }
  }
}

struct Air {
  double value = std::nan("");  // NaN: nothing else is on the faces
  double share = 1;             // of the faces
};

// By majority vote (Boyer and Moore): a value that fills more than half of the faces outlasts all
// others, however many there are. Where none does, any.
Air air_of_faces(const NiftiImage& image, const Dims3& dims) {
  double candidate = std::nan("");
  std::int64_t lead = 0;
  for_each_on_faces(image, dims, [&](double value) {
    candidate = lead == 0 ? value : candidate;
    lead += value == candidate ? 1 : -1;
  });
  std::int64_t values = 0;
  std::int64_t found = 0;
  for_each_on_faces(image, dims, [&](double value) {
    ++values;
    found += value == candidate ? 1 : 0;
  });
  return values == 0 ? Air{}
                     : Air{candidate, static_cast<double>(found) / static_cast<double>(values)};
}

std::string describe_faces(const Air& air) {
  return air.share > 0.5
             ? fmt::format("the most frequent value of its outer faces, {:.6g}, fills {:.1f} %",
                           air.value, 100 * air.share)
             : "no value of its outer faces fills half";
}

std::string describe_grid(const Grid& grid) {
  const Vec3 spacing = column_norms(grid.affine);
  const Vec3 first = transform(grid.affine, {0, 0, 0});
  return fmt::format(
      "{}x{}x{} voxels of {:.4g}x{:.4g}x{:.4g} mm, {}, the first at ({:.5g}, {:.5g}, {:.5g})",
      grid.dims[0], grid.dims[1], grid.dims[2], spacing[0], spacing[1], spacing[2],
      orientation_codes(grid.affine), first[0], first[1], first[2]);
}

}  // namespace

bool is_brain_mask(const ValueTally& values, const LabelSet& recipe) {
  return recipe.brain == 1 && !all_known(values, own_labels(recipe)) &&
         (single_value(values) || are_probabilities(values));
}

Result<Reading> read_unexplained(const NiftiImage& image, const ValueTally& values,
                                 const LabelSet& recipe, std::string_view what) {
  LabelMap map = own_labels(recipe);
  if (is_brain_mask(values, recipe)) {
    if (const auto single = single_value(values)) {
      map.labels[*single] = 1;
      auto mask = read_labels(image, map, recipe, what);
      if (!mask) {
        return mask.error();
      }
      return Reading{
          std::move(*mask),
          {fmt::format("{}, the only value beside 0, became {}", *single, label_name(recipe, 1))}};
    }
    return read_probabilities(image, recipe, what);
  }
  auto mask = read_labels(image, map, recipe, what);
  if (!mask) {
    if (recipe.brain == 1 && values.all_whole && !all_known(values, map)) {
      return make_error(mask.error().code, "{}; if all but 0 is brain: --label-map \"*={}\"",
                        mask.error().message, label_name(recipe, 1));
    }
    return mask.error();
  }
  if (look_raw(count_labels(mask->volume), recipe)) {
    return read_raw(image, std::move(map), recipe, what);
  }
  return Reading{std::move(*mask), {}};
}

Result<Region> region_of_mask(const NiftiImage& image, std::string_view what) {
  const ValueTally values = tally_values(image);
  if (!(values.nan == 0 && values.lowest >= 0 && (values.all_whole || values.highest <= 1))) {
    return invalid_input(
        "{}: {}, expected a mask of one structure: whole numbers from 0, or values from 0 to 1",
        what, values.describe(kListed));
  }
  Region region;
  region.inside.resize(static_cast<std::size_t>(image.voxels()));
  const double cut = kProbabilityCut;
  for_each_value(image, [&](std::size_t index, double value) {
    region.inside[index] = value >= cut ? 1 : 0;
    region.voxels += region.inside[index];
  });
  region.rule = values.all_whole
                    ? "every value above 0"
                    : fmt::format("every value from {} on, of values from 0 to 1", cut);
  if (region.voxels == 0) {
    return invalid_input("{}: covers nothing: {}", what, values.describe(kListed));
  }
  return region;
}

Result<Region> brain_of_t1(const NiftiImage& t1, std::string_view what) {
  const auto dims = volume_dims(t1.header, what);
  if (!dims) {
    return dims.error();
  }
  const Air air = air_of_faces(t1, *dims);
  if (air.share < kLeastAirShare) {
    return invalid_input(
        "{}: has no air around the brain: {} of them, expected at least {:.0f} %; give a "
        "skull-stripped T1",
        what, describe_faces(air), 100 * kLeastAirShare);
  }
  Region brain;
  brain.inside.resize(static_cast<std::size_t>(t1.voxels()));
  bool below = false;
  std::int64_t infinite = 0;
  std::int64_t nan = 0;
  for_each_value(t1, [&](std::size_t index, double value) {
    const bool is_air = std::isnan(value) || value == air.value;
    brain.inside[index] = is_air ? 0 : 1;
    brain.voxels += is_air ? 0 : 1;
    below = below || value < air.value;
    infinite += std::isinf(value) ? 1 : 0;
    nan += std::isnan(value) ? 1 : 0;
  });
  if (infinite != 0) {
    return invalid_input("{}: {} voxels are infinite, expected a T1-weighted image", what,
                         infinite);
  }
  if (brain.voxels == 0) {
    return invalid_input("{}: is {:.6g} everywhere, expected a T1-weighted image of a brain", what,
                         air.value);
  }
  brain.rule = std::isnan(air.value)
                   ? "the T1 is a number (its air is NaN)"
                   : fmt::format("the T1 is {} {:.6g}, its air ({:.1f} % of its outer faces)",
                                 below ? "above or below" : "above", air.value, 100 * air.share);
  if (nan != 0 && !std::isnan(air.value)) {
    brain.rule += fmt::format("; {} voxels that are NaN count as air", nan);
  }
  return brain;
}

Status check_same_grid(const Grid& mask, std::string_view mask_what, const Grid& other,
                       std::string_view other_what) {
  constexpr double kTolerance = 0.1;  // voxels; headers of two tools round differently
  const Vec3 spacing = column_norms(mask.affine);
  if (grid_distance(mask, other) <=
      kTolerance * *std::min_element(spacing.begin(), spacing.end())) {
    return {};
  }
  return invalid_input("{}: has {}, but {} has {}: resample one to the other's grid", other_what,
                       describe_grid(other), mask_what, describe_grid(mask));
}

std::int64_t fill_background(LabelVolume& mask, const Region& region, std::uint8_t label) {
  check(region.inside.size() == mask.data.size(), "a region on the mask's grid");
  std::int64_t filled = 0;
  for (std::size_t i = 0; i < mask.data.size(); ++i) {
    if (mask.data[i] == 0 && region.inside[i] != 0) {
      mask.data[i] = label;
      ++filled;
    }
  }
  return filled;
}

}  // namespace mezzotint
