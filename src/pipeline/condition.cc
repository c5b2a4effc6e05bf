#include "pipeline/condition.h"

#include <algorithm>
#include <limits>

#include "base/error.h"
#include "imaging/encode.h"

namespace mezzotint {
namespace {

constexpr std::int64_t kLongestSide = std::numeric_limits<std::int16_t>::max();

// The mask's grid in the model's frame, each side up to a multiple of what the network needs.
Result<Dims3> grid_of_mask(const std::filesystem::path& mask, const Model& model, bool as_stored) {
  const auto header = read_nifti_header(mask);
  if (!header) {
    return header.error();
  }
  const auto dims = mask_dims(*header, mask);
  if (!dims) {
    return dims.error();
  }
  Dims3 grid = *dims;
  if (!as_stored) {
    const auto to_frame = reorientation_to(header->affine, model.frame);
    if (!to_frame) {
      return to_frame.error();
    }
    grid = reorient(Grid{*dims, header->affine}, *to_frame).dims;
  }
  const std::int64_t multiple = model.config.size_multiple();
  for (std::int64_t& side : grid) {
    side = (side + multiple - 1) / multiple * multiple;
  }
  return grid;
}

}  // namespace

Result<Dims3> mask_dims(const NiftiHeader& header, const std::filesystem::path& mask) {
  const auto dims = volume_dims(header, mask.string());
  if (!dims) {
    return dims.error();
  }
  for (const std::int64_t side : *dims) {
    if (side < 2) {
      return invalid_input("{}: {} is a single slice along one axis, expected a volume",
                           mask.string(), format_dims(*dims));
    }
    if (side > kLongestSide) {
      return unsupported(
          "{}: {} voxels, but the volume is written as NIfTI-1, which has at most {} "
          "along each axis: crop the mask",
          mask.string(), format_dims(*dims), kLongestSide);
    }
  }
  return *dims;
}

Result<std::array<std::int64_t, 3>> choose_grid(
    const Model& model, const std::optional<std::array<std::int64_t, 3>>& size) {
  const auto grid = size ? size : model.grid;
  if (!grid) {
    return invalid_input("{}: neither the recipe nor model.json gives a grid: pass --size",
                         model.path.string());
  }
  const std::int64_t multiple = model.config.size_multiple();
  std::int64_t voxels = 1;
  for (const std::int64_t side : *grid) {
    if (side > kMostGridVoxels / voxels) {
      return invalid_input("size {}: more than {} voxels", format_dims(*grid), kMostGridVoxels);
    }
    if (side < multiple || side % multiple != 0) {
      const std::int64_t below = side / multiple * multiple;
      const std::int64_t nearest = 2 * (side - below) <= multiple ? below : below + multiple;
      return invalid_input("size {}: each side must be a multiple of {}; the nearest to {} is {}",
                           format_dims(*grid), multiple, side, std::max(multiple, nearest));
    }
    voxels *= side;
  }
  return *grid;
}

Result<FitOptions> choose_fit(const GenerateRequest& request, const Model& model) {
  const auto resize = resize_from_name(request.resize);
  if (!resize) {
    return resize.error();
  }
  FitOptions options;
  options.frame = model.frame;
  options.spacing_mm = model.spacing_mm;
  options.resize = *resize;
  options.as_stored = request.as_stored;
  std::optional<Dims3> size = request.size;
  if (request.size_of_mask && size) {
    return invalid_input("size: {} and the mask's own are both asked for", format_dims(*size));
  }
  if (request.size_of_mask || (!size && !model.grid)) {
    const auto of_mask = grid_of_mask(request.mask, model, request.as_stored);
    if (!of_mask) {
      return of_mask.error();
    }
    size = *of_mask;
    // The mask's own voxels, whatever the model's are.
    options.resize = *resize == Resize::kAuto ? Resize::kPad : *resize;
  }
  const auto grid = choose_grid(model, size);
  if (!grid) {
    return grid.error();
  }
  options.dims = *grid;
  return options;
}

std::uint64_t labels_read_bytes(const std::filesystem::path& mask) {
  const NiftiMemory memory = nifti_memory(mask);
  return std::max(memory.reading, memory.image + memory.voxels);
}

std::uint64_t condition_read_bytes(const std::filesystem::path& mask, const Dims3& dims) {
  const auto grid = static_cast<std::uint64_t>(Grid{dims, {}}.voxels());
  return std::max(labels_read_bytes(mask), 2 * nifti_memory(mask).voxels + grid);
}

Result<Condition> read_condition(const std::filesystem::path& mask, const Model& model,
                                 const FitOptions& options, const LabelMap* stated) {
  auto image = read_nifti(mask);
  if (!image) {
    return image.error();
  }
  if (const auto dims = mask_dims(image->header, mask); !dims) {
    return dims.error();
  }
  auto labels = labels_from_nifti(*image, model.labels, mask.string(), stated);
  if (!labels) {
    return labels.error();
  }
  Condition condition;
  condition.file = mask;
  condition.sha256 = std::move(image->sha256);
  condition.header = std::move(image->header);
  condition.mask = std::move(labels->volume);
  image->bytes = std::vector<std::byte>();  // before the mask is copied; = {} would keep them
  auto fit = plan_fit(condition.mask, options);
  if (!fit) {
    return fit.error();
  }
  condition.fit = std::move(*fit);
  auto fitted = fit_labels(condition.mask, condition.fit, model.labels);
  if (!fitted) {
    return make_error(fitted.error().code, "{}: {}", mask.string(), fitted.error().message);
  }
  condition.labels = std::move(fitted->labels);
  for (const auto& notes :
       {condition.header.notes, labels->notes, condition.fit.notes, fitted->notes}) {
    condition.notes.insert(condition.notes.end(), notes.begin(), notes.end());
  }
  return condition;
}

std::vector<float> encode_condition(const Condition& condition, const Model& model) {
  std::vector<int> values;
  for (const LabelName& label : model.labels.labels) {
    values.push_back(label.value);
  }
  const Fit& fit = condition.fit;
  const Recipe& recipe = *model.recipe;
  std::vector<float> channels(values.size() * static_cast<std::size_t>(fit.grid.voxels()));
  if (fit.kind == FitKind::kReference) {
    encode_labels_resized(condition.labels, values, fit.grid.dims, recipe.off_value,
                          recipe.on_value, channels);
  } else {
    encode_labels(condition.labels, values, recipe.off_value, recipe.on_value, channels);
  }
  return channels;
}

}  // namespace mezzotint
