#include "imaging/labels.h"

#include <algorithm>
#include <numeric>
#include <optional>

#include "base/check.h"
#include "base/error.h"
#include "base/quote.h"
#include "imaging/prepare.h"
#include "imaging/value_tally.h"

namespace mezzotint {
namespace {

constexpr std::size_t kListed = 5;  // bad values named in the error

Error unknown_values(const ValueTally& bad, const LabelMap& map, const LabelSet& recipe,
                     std::string_view what) {
  const bool own = map.labels == own_labels(recipe).labels;
  std::string expected = list_labels(recipe);
  if (!own) {
    std::vector<std::int64_t> listed;
    for (const auto& [value, label] : map.labels) {
      listed.push_back(value);
    }
    expected = fmt::format("the values of the label map ({})", fmt::join(listed, ", "));
  }
  std::string remedy = "correct the mask or choose another model";
  if (bad.all_whole) {
    remedy = own ? "say what each value means with --label-map \"VALUE=LABEL,...\", or choose "
                   "another model"
                 : "list the others too, or end the map with \"*=background\"";
  }
  return invalid_input("{}: {}, expected only {}; {}", what, bad.describe(kListed), expected,
                       remedy);
}

std::string prepare_command(const LabelSet& recipe, std::string_view mask) {
  return fmt::format("`mezzotint prepare --recipe {} --mask {}{} --out NEW.nii.gz`", recipe.recipe,
                     shell_word(mask), recipe.needs_brain ? " --t1 T1" : "");
}

// A refusal of values that `prepare` has a rule for says so.
Error name_prepare(Error refusal, const NiftiImage& image, const LabelSet& recipe,
                   std::string_view what) {
  const ValueTally values = tally_values(image);
  if (!is_brain_mask(values, recipe)) {
    return refusal;
  }
  if (const auto reading = read_unexplained(image, values, recipe, what)) {
    refusal.message += fmt::format("; {} makes it usable: {}", prepare_command(recipe, what),
                                   fmt::join(reading->done, ", "));
  }
  return refusal;
}

// "1, 2 and 4".
std::string list_present(const LabelCounts& counts) {
  std::vector<std::size_t> present;
  for (std::size_t label = 1; label < counts.size(); ++label) {
    if (counts[label] != 0) {
      present.push_back(label);
    }
  }
  const std::size_t last = present.back();
  present.pop_back();
  return fmt::format("{} and {}", fmt::join(present, ", "), last);
}

std::int64_t voxels_of(const LabelCounts& counts, int label) {
  return counts[static_cast<std::size_t>(label)];
}

}  // namespace

Result<LabelMask> read_labels(const NiftiImage& image, const LabelMap& map, const LabelSet& recipe,
                              std::string_view what) {
  const auto dims = volume_dims(image.header, what);
  if (!dims) {
    return dims.error();
  }
  LabelMask mask{{{*dims, image.header.affine}, {}}, {}};
  std::vector<std::uint8_t>& labels = mask.volume.data;
  labels.resize(static_cast<std::size_t>(mask.volume.voxels()));
  ValueTally bad;
  std::int64_t minus_ones = 0;
  // Masks are runs of one value.
  std::optional<std::int64_t> last_value;
  std::optional<std::uint8_t> last_label;
  for_each_value(image, [&](std::size_t index, double value) {
    const auto whole = whole_number(value);
    if (whole != last_value) {
      last_value = whole;
      last_label = whole ? map.find(*whole) : std::nullopt;
    }
    if (last_label) {
      labels[index] = *last_label;
      minus_ones += whole == -1 ? 1 : 0;
    } else {
      bad.add(value);
    }
  });
  if (bad.total() != 0) {
    return unknown_values(bad, map, recipe, what);
  }
  if (std::all_of(labels.begin(), labels.end(), [](std::uint8_t label) { return label == 0; })) {
    return invalid_input(
        "{}: all {} voxels are 0 (background), expected some of {}; check that this is the mask "
        "and not an empty export",
        what, labels.size(), list_labels(recipe));
  }
  if (minus_ones != 0) {
    mask.notes.push_back(fmt::format("{} voxels are -1: taken as {}", minus_ones,
                                     label_name(recipe, *map.find(-1))));
  }
  return mask;
}

Result<LabelMask> labels_from_nifti(const NiftiImage& image, const LabelSet& recipe,
                                    std::string_view what, const LabelMap* stated) {
  auto mask = read_labels(image, stated != nullptr ? *stated : own_labels(recipe), recipe, what);
  if (!mask) {
    return stated == nullptr ? name_prepare(mask.error(), image, recipe, what) : mask.error();
  }
  const LabelCounts counts = count_labels(mask->volume);
  if (stated == nullptr && look_raw(counts, recipe)) {
    return invalid_input(
        "{}: holds labels {} but no {}: most likely raw labels, where {} means {} and not {}; {} "
        "makes them usable, and if they do mean what this model knows, pass --label-map \"{}\"",
        what, list_present(counts), recipe.raw->means, recipe.raw->stored,
        label_name(recipe, recipe.raw->means), label_name(recipe, recipe.raw->stored),
        prepare_command(recipe, what), map_as_stored(counts));
  }
  if (recipe.needs_brain && voxels_of(counts, recipe.brain) == 0) {
    return invalid_input(
        "{}: lacks label {} ({}), which this model needs to know where the head is; "
        "{} adds it",
        what, recipe.brain, label_name(recipe, recipe.brain), prepare_command(recipe, what));
  }
  return mask;
}

bool look_raw(const LabelCounts& counts, const LabelSet& recipe) {
  if (!recipe.raw) {
    return false;
  }
  const std::int64_t labelled = std::accumulate(counts.begin() + 1, counts.end(), std::int64_t{0});
  const std::int64_t stored = voxels_of(counts, recipe.raw->stored);
  return stored != 0 && voxels_of(counts, recipe.raw->means) == 0 && labelled != stored;
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
    text += fmt::format("{} {}, ", voxels_of(counts, label.value), label.name);
  }
  return text + fmt::format("{} background", counts[0]);
}

std::string map_as_stored(const LabelCounts& counts) {
  std::vector<std::string> entries;
  for (std::size_t label = 1; label < counts.size(); ++label) {
    if (counts[label] != 0) {
      entries.push_back(fmt::format("{0}={0}", label));
    }
  }
  return fmt::format("{}", fmt::join(entries, ","));
}

}  // namespace mezzotint
