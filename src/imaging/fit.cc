#include "imaging/fit.h"

#include <algorithm>
#include <iterator>

#include "base/check.h"
#include "base/error.h"
#include "base/quote.h"
#include "imaging/crop_or_pad.h"
#include "imaging/resample.h"

namespace mezzotint {
namespace {

constexpr double kSameExtent = 1e-3;  // relative; headers hold float32
constexpr Resize kResizes[] = {Resize::kAuto, Resize::kPad, Resize::kResample, Resize::kReference};

// Whether resampling would move no voxel's centre by more than half a voxel.
bool lies_as(const Grid& framed, const Grid& straight) {
  const Vec3 spacing = column_norms(straight.affine);
  return grid_distance(framed, straight) <= 0.5 * *std::min_element(spacing.begin(), spacing.end());
}

FitKind choose_kind(bool same_dims, bool spacing_known, bool as_trained, Resize resize) {
  switch (resize) {
    case Resize::kPad: return same_dims ? FitKind::kUnchanged : FitKind::kPadded;
    case Resize::kReference: return same_dims ? FitKind::kUnchanged : FitKind::kReference;
    case Resize::kAuto:
    case Resize::kResample: break;
  }
  if (same_dims && (as_trained || !spacing_known)) {
    return FitKind::kUnchanged;
  }
  if (!spacing_known) {
    return FitKind::kStretched;
  }
  return as_trained && resize == Resize::kAuto ? FitKind::kPadded : FitKind::kResampled;
}

// "padded", "cropped" or both.
std::string name_of_change(const Dims3& from, const Dims3& to) {
  const bool pads = from[0] < to[0] || from[1] < to[1] || from[2] < to[2];
  const bool crops = from[0] > to[0] || from[1] > to[1] || from[2] > to[2];
  return pads && crops ? "padded and cropped" : pads ? "padded" : "cropped";
}

std::string describe_axes(const Fit& fit, const FitOptions& options) {
  const std::string stored = orientation_codes(fit.mask.affine);
  if (fit.as_stored) {
    return fmt::format(", axes as stored ({}+; the model's are {})", stored, options.frame);
  }
  return fit.to_frame.is_identity() ? ""
                                    : fmt::format(", turned from {} to {}", stored, options.frame);
}

std::string describe_fit(const Fit& fit) {
  const std::string from = format_dims(fit.framed.dims);
  const std::string to = format_dims(fit.grid.dims);
  const std::string spacing = format_spacing(column_norms(fit.framed.affine));
  switch (fit.kind) {
    case FitKind::kUnchanged: return fmt::format("{} at {}, the model's grid", from, spacing);
    case FitKind::kPadded:
      return fmt::format("{} at {} {} to {} by whole voxels", from, spacing,
                         name_of_change(fit.framed.dims, fit.grid.dims), to);
    case FitKind::kResampled:
      return fmt::format("{} at {} resampled by world coordinates to {} at {}", from, spacing, to,
                         format_spacing(column_norms(fit.grid.affine)));
    case FitKind::kStretched:
      return fmt::format("{} stretched to {} (the model's spacing is unknown)", from, to);
    case FitKind::kReference:
      return fmt::format("each label of {} stretched linearly to {}, the reference's way", from,
                         to);
  }
  return "";
}

// The first axis along which the mask's field is longer than the grid's.
std::optional<std::string> describe_cut(const Fit& fit) {
  const Vec3 field_spacing = column_norms(fit.framed.affine);
  const Vec3 grid_spacing = column_norms(fit.grid.affine);
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const double extent = static_cast<double>(fit.framed.dims[axis]) * field_spacing[axis];
    const double reach = static_cast<double>(fit.grid.dims[axis]) * grid_spacing[axis];
    if (extent > reach * (1 + kSameExtent)) {
      return fmt::format(
          "the mask's field is {:.0f} mm along axis {}, the model's grid {:.0f} mm: what lies "
          "outside is written as background",
          extent, axis, reach);
    }
  }
  return std::nullopt;
}

// "3 of 5586 brain voxels, 229 of 229 tumour voxels"; empty when nothing is missing.
std::string describe_missing(const LabelCounts& before, const LabelCounts& after,
                             const LabelSet& names) {
  std::string text;
  for (const LabelName& label : names.labels) {
    const auto value = static_cast<std::size_t>(label.value);
    if (after[value] < before[value]) {
      text += fmt::format("{}{} of {} {} voxels", text.empty() ? "" : ", ",
                          before[value] - after[value], before[value], label.name);
    }
  }
  return text;
}

Status check_none_lost(const LabelCounts& before, const LabelCounts& within,
                       const LabelVolume& fitted, const Fit& fit, const LabelSet& names) {
  const LabelCounts after = count_labels(fitted);
  for (const LabelName& label : names.labels) {
    const auto value = static_cast<std::size_t>(label.value);
    if (before[value] == 0 || (after[value] != 0 && within[value] != 0)) {
      continue;
    }
    return invalid_input(
        "label {} ({}): none of its {} voxels is left on the model's grid of {} voxels of {} "
        "around the mask's centre: {}",
        label.value, label.name, before[value], format_dims(fit.grid.dims),
        format_spacing(column_norms(fit.grid.affine)),
        within[value] == 0 ? "all lie outside; check the mask's voxel size, or crop or shift it"
                           : "it is too thin for them; remove the label or enlarge it");
  }
  return {};
}

}  // namespace

std::string_view name_of(Resize resize) {
  switch (resize) {
    case Resize::kAuto: return "auto";
    case Resize::kPad: return "pad";
    case Resize::kResample: return "resample";
    case Resize::kReference: return "reference";
  }
  return "unknown";
}

Result<Resize> resize_from_name(std::string_view name) {
  const auto* const found = std::find_if(std::begin(kResizes), std::end(kResizes),
                                         [&](Resize known) { return name_of(known) == name; });
  if (found == std::end(kResizes)) {
    return invalid_input("resize: {} is not auto, pad, resample or reference", in_quotes(name));
  }
  return *found;
}

Result<Fit> plan_fit(const Grid& mask, const FitOptions& options) {
  Fit fit;
  fit.resize = options.resize;
  fit.as_stored = options.as_stored;
  fit.mask = mask;
  fit.frame = options.as_stored ? orientation_codes(mask.affine) + "+" : options.frame;
  const auto to_frame = reorientation_to(mask.affine, fit.frame);
  if (!to_frame) {
    return to_frame.error();
  }
  fit.to_frame = *to_frame;
  fit.framed = reorient(mask, fit.to_frame);
  bool as_trained = false;
  if (options.spacing_mm) {
    const auto straight = grid_around(fit.framed, fit.framed.dims, *options.spacing_mm, fit.frame);
    if (!straight) {
      return straight.error();
    }
    as_trained = lies_as(fit.framed, *straight);
  }
  fit.kind = choose_kind(fit.framed.dims == options.dims, options.spacing_mm.has_value(),
                         as_trained, options.resize);
  switch (fit.kind) {
    case FitKind::kUnchanged: fit.grid = fit.framed; break;
    case FitKind::kPadded: fit.grid = crop_or_pad(fit.framed, options.dims); break;
    case FitKind::kResampled: {
      auto around = grid_around(fit.framed, options.dims, *options.spacing_mm, fit.frame);
      if (!around) {
        return around.error();
      }
      fit.grid = *around;
      break;
    }
    case FitKind::kStretched:
    case FitKind::kReference: fit.grid = stretched_grid(fit.framed, options.dims); break;
  }
  fit.summary = describe_fit(fit) + describe_axes(fit, options);
  if (options.spacing_mm && !as_trained && fit.kind != FitKind::kResampled) {
    fit.notes.push_back(fmt::format(
        "the model was trained on voxels of {} along its axes; it is shown some of {}",
        format_spacing(*options.spacing_mm), format_spacing(column_norms(fit.grid.affine))));
  }
  if (fit.kind == FitKind::kResampled) {
    if (auto cut = describe_cut(fit)) {
      fit.notes.push_back(std::move(*cut));
    }
  }
  return fit;
}

Result<FittedLabels> fit_labels(const LabelVolume& mask, const Fit& fit, const LabelSet& names) {
  check(mask.dims == fit.mask.dims, "a fit is for one mask");
  FittedLabels fitted{reorient(mask, fit.to_frame), {}};
  if (fit.kind == FitKind::kUnchanged || fit.kind == FitKind::kReference) {
    return fitted;
  }
  const LabelCounts before = count_labels(mask);
  const LabelCounts within = count_labels_within(fitted.labels, fit.grid);
  fitted.labels = fit.kind == FitKind::kPadded ? crop_or_pad(fitted.labels, fit.grid.dims, 0)
                                               : resample_labels(fitted.labels, fit.grid);
  if (Status status = check_none_lost(before, within, fitted.labels, fit, names); !status) {
    return status.error();
  }
  if (std::string cut = describe_missing(before, within, names); !cut.empty()) {
    fitted.notes.push_back(
        fmt::format("outside the model's grid, where nothing is painted: {}", cut));
  }
  return fitted;
}

Volume bring_back(const Fit& fit, std::span<const float> result, float outside) {
  check(static_cast<std::int64_t>(result.size()) == fit.grid.voxels(),
        "a result fills the model's grid");
  Volume volume{fit.grid, {result.begin(), result.end()}};
  switch (fit.kind) {
    case FitKind::kUnchanged: break;
    case FitKind::kPadded: volume = crop_or_pad(volume, fit.framed.dims, outside); break;
    case FitKind::kResampled:
    case FitKind::kStretched:
    case FitKind::kReference: volume = resample_linear(volume, fit.framed, outside); break;
  }
  if (!fit.to_frame.is_identity()) {
    volume = reorient(volume, inverse(fit.to_frame));
  }
  volume.affine = fit.mask.affine;  // without the rounding of going there and back
  return volume;
}

}  // namespace mezzotint
