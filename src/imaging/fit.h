// How a mask comes to a model's grid, and how results come back to the mask's own.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "imaging/labels.h"
#include "imaging/reorient.h"
#include "imaging/volume.h"
#include "mezzotint/result.h"

namespace mezzotint {

// What may be asked for.
enum class Resize : std::uint8_t {
  kAuto,       // pad where the voxels lie as the model's do, else resample
  kPad,        // whole voxels are added or cut off, whatever their size
  kResample,   // each voxel of the model's grid takes the label with the most weight there
  kReference,  // as Med-DDPM's own scripts: the channels of the labels are stretched linearly
};

// "auto", "pad", "resample", "reference".
[[nodiscard]] std::string_view name_of(Resize resize);
[[nodiscard]] Result<Resize> resize_from_name(std::string_view name);

struct FitOptions {
  Dims3 dims{};                    // of the model's grid
  std::string frame;               // where its axes point: "RAS+", "LPS+"
  std::optional<Vec3> spacing_mm;  // of its voxels; nothing: unknown
  Resize resize = Resize::kAuto;
  bool as_stored = false;  // the mask's axes are not turned to `frame`
};

// What is done.
enum class FitKind : std::uint8_t {
  kUnchanged,
  kPadded,
  kResampled,  // by world coordinates
  kStretched,  // over the mask's field of view: the model's spacing is unknown
  kReference,  // the same, each label's channel for itself
};

struct Fit {
  FitKind kind = FitKind::kUnchanged;
  Resize resize = Resize::kAuto;  // what was asked for, and with it the same is done again
  bool as_stored = false;
  Grid mask;  // as stored
  Reorientation to_frame;
  Grid framed;                     // the mask's, turned
  Grid grid;                       // the model's, where it lies in the world
  std::string frame;               // where its axes point, nearest: "RAS+"
  std::string summary;             // one line
  std::vector<std::string> notes;  // what the model was not trained for
};

// `mask` has at least two voxels along each axis, the grid at least one. kInvalidInput when the
// frame is none.
[[nodiscard]] Result<Fit> plan_fit(const Grid& mask, const FitOptions& options);

struct FittedLabels {
  LabelVolume labels;              // on fit.grid; for kReference on fit.framed
  std::vector<std::string> notes;  // what lies outside the model's grid, with counts
};

// The labels of a mask on fit.mask, ready to be encoded: by encode_labels, for kReference by
// encode_labels_resized to fit.grid.dims. kInvalidInput, naming the label, when nothing is left of
// one that the mask has.
[[nodiscard]] Result<FittedLabels> fit_labels(const LabelVolume& mask, const Fit& fit,
                                              const LabelSet& names);

// A result [z, y, x] of the model's grid on the mask's own: whole voxels where the mask came by
// whole voxels, else linear between voxel centres. `outside` where the grid does not reach.
[[nodiscard]] Volume bring_back(const Fit& fit, std::span<const float> result, float outside);

}  // namespace mezzotint
