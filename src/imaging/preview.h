// A picture of a generated volume with its mask: three orthogonal planes.
#pragma once

#include <optional>
#include <vector>

#include "imaging/canvas.h"
#include "imaging/volume.h"
#include "mezzotint/result.h"

namespace mezzotint {

struct IntensityWindow {
  float low = 0;   // black
  float high = 1;  // white
};

struct PreviewOptions {
  // Labels that the planes go through and that are outlined in the second colour; the middle of all
  // labels when none of these is present. Every other label counts as brain.
  std::vector<int> tumour_labels{2};
  // Default: percentiles 1 and 99.5 inside the brain.
  std::optional<IntensityWindow> window = std::nullopt;
  bool outline = true;
};

// Sagittal, coronal and axial planes side by side, radiological convention (the patient's right on
// the picture's left; the face on the left of the sagittal plane), sides labelled. Any orientation;
// pixels are square in mm. Equal input gives equal pixels. kInvalidInput when the two grids have
// different dims.
[[nodiscard]] Result<RgbImage> render_preview(const Volume& image, const LabelVolume& mask,
                                              const PreviewOptions& options = {});

}  // namespace mezzotint
