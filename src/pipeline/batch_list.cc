#include "pipeline/batch_list.h"

#include <algorithm>
#include <initializer_list>
#include <limits>
#include <map>
#include <string_view>

#include "base/error.h"

namespace mezzotint {
namespace {

namespace fs = std::filesystem;

constexpr int kMostVolumes = 1'000'000;

// "scan" of "scan.nii.gz"; empty when the name has none of these endings.
std::string stem_before(const fs::path& path, std::initializer_list<std::string_view> endings) {
  const std::string name = path.filename().string();
  for (const std::string_view ending : endings) {
    if (name.size() > ending.size() && name.ends_with(ending) && name.front() != '.') {
      return name.substr(0, name.size() - ending.size());
    }
  }
  return "";
}

// Of what is taken for a mask in a folder: a pair counts once.
std::string stem_of_mask(const fs::path& path) {
  return stem_before(path, {".nii.gz", ".nii", ".hdr.gz", ".hdr"});
}

// A mask that is named for itself may have any name.
std::string stem_of_any(const fs::path& path) {
  const std::string stem =
      stem_before(path, {".nii.gz", ".nii", ".hdr.gz", ".hdr", ".img.gz", ".img"});
  return stem.empty() ? path.filename().string() : stem;
}

Status check_samples(const BatchRequest& request, int samples) {
  if (samples < 1 || samples > kMostVolumes) {
    return invalid_input("samples: {}, expected 1 to {}", samples, kMostVolumes);
  }
  if (request.settings.sample >
      std::numeric_limits<std::uint32_t>::max() - static_cast<std::uint32_t>(samples)) {
    return invalid_input("sample: {} and {} more are beyond the largest number of a sample",
                         request.settings.sample, samples - 1);
  }
  if (request.settings.noise && samples > 1) {
    return invalid_input("noise: {} holds the noise of one volume; {} samples would be the same",
                         request.settings.noise->string(), samples);
  }
  return {};
}

Status check_names(const std::vector<fs::path>& masks) {
  std::map<std::string, fs::path> by_stem;
  for (const fs::path& mask : masks) {
    const auto [other, is_new] = by_stem.emplace(stem_of_any(mask), mask);
    if (!is_new) {
      return invalid_input("{} and {}: would both make {}.nii.gz; rename one of them",
                           other->second.string(), mask.string(), other->first);
    }
  }
  return {};
}

}  // namespace

bool is_batch(const BatchRequest& request) {
  std::error_code absent;
  return request.samples || fs::is_directory(request.settings.mask, absent);
}

Result<std::vector<fs::path>> masks_in(const fs::path& folder) {
  std::vector<fs::path> masks;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    std::error_code ignored;
    if (!stem_of_mask(entry->path()).empty() && !entry->is_directory(ignored)) {
      masks.push_back(entry->path());
    }
  }
  if (error) {
    return invalid_input("{}: cannot list this folder: {}", folder.string(), error.message());
  }
  if (masks.empty()) {
    return invalid_input("{}: holds no mask, expected files that end in .nii, .nii.gz or .hdr",
                         folder.string());
  }
  std::sort(masks.begin(), masks.end());
  return masks;
}

Result<std::vector<BatchVolume>> list_batch(const BatchRequest& request) {
  const int samples = request.samples.value_or(1);
  if (Status status = check_samples(request, samples); !status) {
    return status.error();
  }
  const GenerateRequest& settings = request.settings;
  std::vector<fs::path> masks{settings.mask};
  std::error_code absent;
  if (fs::is_directory(settings.mask, absent)) {
    if (fs::equivalent(settings.mask, settings.out, absent)) {
      return invalid_input(
          "out: {} is the folder of the masks; choose another, or the volumes would be taken for "
          "masks next time",
          settings.out.string());
    }
    auto found = masks_in(settings.mask);
    if (!found) {
      return found.error();
    }
    masks = std::move(*found);
  }
  if (Status status = check_names(masks); !status) {
    return status.error();
  }
  if (masks.size() > static_cast<std::size_t>(kMostVolumes / samples)) {
    return invalid_input("samples: {} of each of {} masks are more than {} volumes", samples,
                         masks.size(), kMostVolumes);
  }
  const bool numbered = request.samples || settings.sample > 0;
  std::vector<BatchVolume> volumes;
  for (const fs::path& mask : masks) {
    for (int i = 0; i < samples; ++i) {
      BatchVolume volume;
      volume.index = static_cast<int>(volumes.size());
      volume.mask = mask;
      volume.sample = settings.sample + static_cast<std::uint32_t>(i);
      volume.out =
          settings.out / fmt::format("{}{}.nii.gz", stem_of_any(mask),
                                     numbered ? fmt::format("_sample{}", volume.sample) : "");
      volumes.push_back(std::move(volume));
    }
  }
  for (BatchVolume& volume : volumes) {
    volume.count = static_cast<int>(volumes.size());
  }
  return volumes;
}

}  // namespace mezzotint
