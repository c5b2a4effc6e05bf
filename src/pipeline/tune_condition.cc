#include "pipeline/tune_condition.h"

#include <algorithm>
#include <system_error>

#include "base/error.h"
#include "imaging/encode.h"
#include "models/recipe.h"
#include "pipeline/condition.h"
#include "pipeline/outputs.h"

namespace mezzotint {
namespace {

// The first by name; nothing without such a folder.
std::optional<std::filesystem::path> shipped_mask(const Model& model) {
  std::optional<std::filesystem::path> first;
  std::error_code failure;
  std::filesystem::directory_iterator entry(model.file.parent_path() / "masks", failure);
  for (; !failure && entry != std::filesystem::directory_iterator(); entry.increment(failure)) {
    const std::filesystem::path& path = entry->path();
    if (is_volume_name(path) && (!first || path < *first)) {
      first = path;
    }
  }
  return first;
}

Result<std::vector<float>> from_mask(const std::filesystem::path& mask, const Subject& subject) {
  GenerateRequest request;
  request.mask = mask;
  request.size = subject.grid();
  const auto fit = choose_fit(request, *subject.model());
  if (!fit) {
    return fit.error();
  }
  const auto condition = read_condition(mask, *subject.model(), *fit);
  if (!condition) {
    return condition.error();
  }
  return encode_condition(*condition, *subject.model());
}

// Half axes of label number `rank` of `count`, as parts of the grid's: from 0.8 inwards.
double half_axis(std::size_t rank, std::size_t count) {
  return 0.8 * static_cast<double>(count - rank) / static_cast<double>(count);
}

std::vector<float> ellipsoids(const Subject& subject) {
  const Recipe& recipe = recipe_of(subject.config().recipe);
  std::vector<int> labels;  // in the order of the channels
  for (int label = 1; label <= subject.config().condition_channels; ++label) {
    labels.push_back(label);
  }
  std::vector<int> inwards = labels;
  std::stable_partition(inwards.begin(), inwards.end(),
                        [&](int label) { return label == recipe.brain_label; });
  LabelVolume volume;
  volume.dims = subject.grid();
  volume.data.assign(static_cast<std::size_t>(volume.voxels()), 0);
  const auto off_centre = [](std::int64_t at, std::int64_t side) {
    return (2.0 * static_cast<double>(at) + 1) / static_cast<double>(side) - 1;
  };
  for (std::int64_t z = 0; z < volume.dims[2]; ++z) {
    for (std::int64_t y = 0; y < volume.dims[1]; ++y) {
      for (std::int64_t x = 0; x < volume.dims[0]; ++x) {
        const double at[] = {off_centre(x, volume.dims[0]), off_centre(y, volume.dims[1]),
                             off_centre(z, volume.dims[2])};
        const double square = at[0] * at[0] + at[1] * at[1] + at[2] * at[2];
        for (std::size_t rank = 0; rank < inwards.size(); ++rank) {
          const double radius = half_axis(rank, inwards.size());
          if (square <= radius * radius) {
            volume.data[volume.index(x, y, z)] = static_cast<std::uint8_t>(inwards[rank]);
          }
        }
      }
    }
  }
  std::vector<float> channels(
      static_cast<std::size_t>(subject.elements(subject.config().condition_channels)));
  encode_labels(volume, labels, recipe.off_value, recipe.on_value, channels);
  return channels;
}

}  // namespace

Result<std::optional<std::filesystem::path>> tune_mask(
    const Subject& subject, const std::optional<std::filesystem::path>& given) {
  if (subject.model() != nullptr) {
    return given ? given : shipped_mask(*subject.model());
  }
  if (given) {
    return invalid_input("{}: a mask needs a model that says what its labels are", given->string());
  }
  return given;
}

Result<std::vector<float>> tune_condition(const Subject& subject,
                                          const std::optional<std::filesystem::path>& mask) {
  return mask ? from_mask(*mask, subject) : ellipsoids(subject);
}

}  // namespace mezzotint
