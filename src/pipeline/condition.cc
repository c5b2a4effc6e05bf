#include "pipeline/condition.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/check.h"
#include "base/checked.h"
#include "base/error.h"
#include "base/file.h"
#include "base/quote.h"
#include "formats/gzip.h"
#include "imaging/encode.h"
#include "imaging/resample.h"

namespace mezzotint {
namespace {

constexpr std::int64_t kLongestSide = std::numeric_limits<std::int16_t>::max();
constexpr double kSpacingTolerance = 1e-3;  // relative; headers hold float32

bool same_spacing(const Vec3& a, const std::array<double, 3>& b) {
  for (std::size_t axis = 0; axis < 3; ++axis) {
    if (std::abs(a[axis] - b[axis]) > kSpacingTolerance * b[axis]) {
      return false;
    }
  }
  return true;
}

std::string format_grid(const Dims3& dims) {
  return fmt::format("{}x{}x{}", dims[0], dims[1], dims[2]);
}

std::string format_spacing(const Vec3& spacing) {
  if (spacing[0] == spacing[1] && spacing[1] == spacing[2]) {
    return fmt::format("{:.4g} mm", spacing[0]);
  }
  return fmt::format("{:.4g}x{:.4g}x{:.4g} mm", spacing[0], spacing[1], spacing[2]);
}

// Axes along which the mask's field is longer than the grid's: what lies beyond is not generated.
std::optional<std::string> cut_note(const Grid& field, const Grid& grid) {
  const Vec3 field_spacing = column_norms(field.affine);
  const Vec3 grid_spacing = column_norms(grid.affine);
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const double extent = static_cast<double>(field.dims[axis]) * field_spacing[axis];
    const double reach = static_cast<double>(grid.dims[axis]) * grid_spacing[axis];
    if (extent > reach * (1 + kSpacingTolerance)) {
      return fmt::format(
          "the mask's field is {:.0f} mm along axis {}, the model's grid {:.0f} mm: what lies "
          "outside "
          "is written as background",
          extent, axis, reach);
    }
  }
  return std::nullopt;
}

Status fit_to_grid(Condition& condition, const Model& model, const Dims3& dims) {
  LabelVolume framed = reorient(condition.mask, condition.to_frame);
  const Vec3 spacing = column_norms(framed.affine);
  const std::string turned =
      condition.to_frame.is_identity()
          ? ""
          : fmt::format(", turned from {} to {}", orientation_codes(condition.mask.affine),
                        model.frame);
  if (framed.dims == dims && (!model.spacing_mm || same_spacing(spacing, *model.spacing_mm))) {
    condition.fit = fmt::format("{} at {}, the model's grid{}", format_grid(framed.dims),
                                format_spacing(spacing), turned);
    condition.on_grid = std::move(framed);
    return {};
  }
  Grid target;
  if (model.spacing_mm) {
    auto around = grid_around(framed, dims, *model.spacing_mm, model.frame);
    if (!around) {
      return around.error();
    }
    target = *around;
    if (auto note = cut_note(framed, target)) {
      condition.notes.push_back(std::move(*note));
    }
    condition.fit = fmt::format("{} at {} resampled by world coordinates to {} at {}{}",
                                format_grid(framed.dims), format_spacing(spacing),
                                format_grid(dims), format_spacing(*model.spacing_mm), turned);
  } else {
    target = stretched_grid(framed, dims);
    condition.fit = fmt::format("{} stretched to {} (the model's spacing is unknown){}",
                                format_grid(framed.dims), format_grid(dims), turned);
  }
  auto on_grid = resample_labels(framed, target);
  if (!on_grid) {
    return make_error(on_grid.error().code, "{}: {}", condition.file.string(),
                      on_grid.error().message);
  }
  condition.on_grid = std::move(*on_grid);
  condition.resampled = true;
  return {};
}

}  // namespace

Result<std::array<std::int64_t, 3>> choose_grid(
    const Model& model, const std::optional<std::array<std::int64_t, 3>>& size) {
  const auto grid = size ? size : model.grid;
  if (!grid) {
    return invalid_input("{}: neither the recipe nor model.json gives a grid: pass --size",
                         model.path.string());
  }
  const std::int64_t multiple = model.config.size_multiple();
  constexpr std::int64_t kMostVoxels = std::int64_t{1} << 31;
  std::int64_t voxels = 1;
  for (const std::int64_t side : *grid) {
    if (side < multiple || side % multiple != 0) {
      const std::int64_t below = std::max(multiple, side / multiple * multiple);
      return invalid_input("size {}: each side must be a multiple of {}; the nearest to {} is {}",
                           format_grid(*grid), multiple, side,
                           side - below <= below + multiple - side ? below : below + multiple);
    }
    if (side > kMostVoxels / voxels) {
      return invalid_input("size {}: more than {} voxels", format_grid(*grid), kMostVoxels);
    }
    voxels *= side;
  }
  return *grid;
}

std::uint64_t mask_bytes(const std::filesystem::path& mask) {
  constexpr std::uint64_t kStartBytes = 64 << 10;
  constexpr std::uint64_t kHeaderBytes = 540;      // NIfTI-2's, the longer one
  constexpr std::uint64_t kMostCompressed = 1032;  // deflate: 258 bytes by two bits
  const auto file = InputFile::open(mask);
  if (!file) {
    return 0;
  }
  std::vector<std::byte> start(std::min(file->size(), kStartBytes));
  if (!file->read_at(0, start) || !is_gzip(start)) {
    return file->size();
  }
  const auto content = gunzip_prefix(start, kHeaderBytes, mask.string());
  const auto header =
      content ? parse_nifti_header(*content, mask.string()) : Result<NiftiHeader>(content.error());
  if (!header) {
    return file->size();
  }
  const auto voxels = checked_elements(header->dims);
  const auto claimed =
      voxels ? checked_multiply(static_cast<std::uint64_t>(*voxels), size_of(header->type))
             : std::nullopt;
  // A header may claim more than its file can hold.
  return file->size() + std::min({claimed.value_or(kMaxNiftiBytes), kMaxNiftiBytes,
                                  file->size() * kMostCompressed});
}

Result<Condition> read_condition(const std::filesystem::path& mask, const Model& model,
                                 const std::array<std::int64_t, 3>& grid) {
  auto image = read_nifti(mask);
  if (!image) {
    return image.error();
  }
  auto labels = labels_from_nifti(*image, model.labels, mask.string());
  if (!labels) {
    return labels.error();
  }
  for (const std::int64_t side : labels->dims) {
    if (side < 2) {
      return invalid_input("{}: {} is a single slice along one axis, expected a volume",
                           mask.string(), format_grid(labels->dims));
    }
    if (side > kLongestSide) {
      return unsupported(
          "{}: {} voxels, but the volume is written as NIfTI-1, which has at most {} "
          "along each axis: crop the mask",
          mask.string(), format_grid(labels->dims), kLongestSide);
    }
  }
  Condition condition;
  condition.file = mask;
  condition.sha256 = std::move(image->sha256);
  condition.header = std::move(image->header);
  condition.mask = std::move(*labels);
  condition.notes = condition.header.notes;
  const auto to_frame = reorientation_to(condition.mask.affine, model.frame);
  if (!to_frame) {
    return to_frame.error();
  }
  condition.to_frame = *to_frame;
  if (Status status = fit_to_grid(condition, model, grid); !status) {
    return status.error();
  }
  return condition;
}

std::vector<float> encode_condition(const Condition& condition, const Model& model) {
  std::vector<int> labels;
  for (const LabelName& label : model.labels.labels) {
    labels.push_back(label.value);
  }
  std::vector<float> channels(labels.size() * condition.on_grid.data.size());
  encode_labels(condition.on_grid, labels, model.recipe->off_value, model.recipe->on_value,
                channels);
  return channels;
}

Volume bring_back(const Condition& condition, std::span<const float> channel, float background) {
  check(channel.size() == condition.on_grid.data.size(), "a channel must fill the model's grid");
  Volume volume;
  volume.dims = condition.on_grid.dims;
  volume.affine = condition.on_grid.affine;
  volume.data.assign(channel.begin(), channel.end());
  if (condition.resampled) {
    return resample_linear(volume, condition.mask, background);
  }
  return reorient(volume, inverse(condition.to_frame));
}

}  // namespace mezzotint
