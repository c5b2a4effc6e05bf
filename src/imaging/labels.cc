#include "imaging/labels.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>

#include "base/check.h"
#include "base/error.h"

namespace mezzotint {
namespace {

constexpr double kTolerance = 1e-3;
constexpr std::size_t kListed = 5;           // bad values named in the error
constexpr std::size_t kLargestTally = 1000;  // distinct bad values counted one by one

// Which bad values occur, and how often.
class BadValues {
 public:
  void add(double value) {
    ++total_;
    if (std::isnan(value)) {
      ++nan_;
    } else if (tally_.size() < kLargestTally || tally_.count(value) > 0) {
      ++tally_[value];
    }
  }

  [[nodiscard]] bool empty() const { return total_ == 0; }

  // "12 voxels are 7, 3 are 1.5, 1 are nan and 40 have other values".
  [[nodiscard]] std::string describe() const {
    std::vector<std::pair<double, std::int64_t>> common(tally_.begin(), tally_.end());
    if (nan_ > 0) {
      common.emplace_back(std::nan(""), nan_);
    }
    std::stable_sort(common.begin(), common.end(),
                     [](const auto& a, const auto& b) { return a.second > b.second; });
    common.resize(std::min(common.size(), kListed));
    std::string text;
    std::int64_t listed = 0;
    for (const auto& [value, count] : common) {
      text += fmt::format(
          "{}{} {} {:.6g}", text.empty() ? "" : ", ", count,
          text.empty() ? (count == 1 ? "voxel is" : "voxels are") : (count == 1 ? "is" : "are"),
          value);
      listed += count;
    }
    if (total_ > listed) {
      text += fmt::format(" and {} have other values", total_ - listed);
    }
    return text;
  }

 private:
  std::int64_t total_ = 0;
  std::int64_t nan_ = 0;
  std::map<double, std::int64_t> tally_;
};

std::string expected_labels(const LabelSet& recipe) {
  std::string text = "0 (background)";
  for (const LabelName& label : recipe.labels) {
    text += fmt::format(", {} ({})", label.value, label.name);
  }
  return text;
}

class LabelReader {
 public:
  explicit LabelReader(const LabelSet& recipe)
      : minus_one_is_background_(recipe.minus_one_is_background) {
    known_[0] = true;
    for (const LabelName& label : recipe.labels) {
      check(label.value >= 1 && label.value <= 255, "a recipe's labels are 1 to 255");
      known_[static_cast<std::size_t>(label.value)] = true;
    }
  }

  [[nodiscard]] std::optional<std::uint8_t> label_of(double value) const {
    // Negated comparisons refuse NaN too.
    if (!(value >= -1 - kTolerance && value <= 255 + kTolerance)) {
      return std::nullopt;
    }
    const double nearest = std::round(value);
    if (std::abs(value - nearest) > kTolerance) {
      return std::nullopt;
    }
    if (nearest == -1 && minus_one_is_background_) {
      return 0;
    }
    if (nearest < 0 || !known_[static_cast<std::size_t>(nearest)]) {
      return std::nullopt;
    }
    return static_cast<std::uint8_t>(nearest);
  }

 private:
  bool minus_one_is_background_;
  std::array<bool, 256> known_{};
};

}  // namespace

Result<LabelVolume> labels_from_nifti(const NiftiImage& image, const LabelSet& recipe,
                                      std::string_view what) {
  const auto dims = volume_dims(image.header, what);
  if (!dims) {
    return dims.error();
  }
  LabelVolume volume{{*dims, image.header.affine}, {}};
  volume.data.resize(static_cast<std::size_t>(volume.voxels()));
  const LabelReader reader(recipe);
  BadValues bad;
  std::array<double, 4096> block;
  for (std::size_t first = 0; first < volume.data.size(); first += block.size()) {
    const std::size_t count = std::min(block.size(), volume.data.size() - first);
    image.read_values(static_cast<std::int64_t>(first), std::span(block).first(count));
    for (std::size_t i = 0; i < count; ++i) {
      if (const auto label = reader.label_of(block[i])) {
        volume.data[first + i] = *label;
      } else {
        bad.add(block[i]);
      }
    }
  }
  if (!bad.empty()) {
    return invalid_input("{}: {}, expected only {}; relabel the mask or choose another model", what,
                         bad.describe(), expected_labels(recipe));
  }
  if (std::all_of(volume.data.begin(), volume.data.end(),
                  [](std::uint8_t label) { return label == 0; })) {
    return invalid_input(
        "{}: all {} voxels are 0, expected some of {}; check that this is the mask and not an "
        "empty export",
        what, volume.data.size(), expected_labels(recipe));
  }
  return volume;
}

LabelCounts count_labels(const LabelVolume& volume) {
  LabelCounts counts{};
  for (const std::uint8_t label : volume.data) {
    ++counts[label];
  }
  return counts;
}

std::string describe_counts(const LabelCounts& counts, const LabelSet& recipe) {
  std::string text;
  for (const LabelName& label : recipe.labels) {
    text += fmt::format("{} {}, ", counts[static_cast<std::size_t>(label.value)], label.name);
  }
  return text + fmt::format("{} background", counts[0]);
}

}  // namespace mezzotint
