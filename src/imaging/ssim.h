// How alike two volumes are in structure.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/thread_team.h"
#include "imaging/volume.h"

namespace mezzotint {

struct SsimOptions {
  double data_range = 2;  // largest value less smallest, of the scale, not of the volumes
  int radius = 3;         // of the window, a cube of 2 radius + 1 voxels
};

// 3D SSIM (Wang et al., IEEE Trans. Image Processing 2004, equation 13 with K1 = 0.01, K2 = 0.03):
// the mean of the index over the voxels where `inside` is not 0. Means, variances and covariance
// are those of all voxels of a window with equal weight, divided by their number; a window at the
// border has those that exist. a, b, inside: x fastest, as many as `dims` says. Nothing when no
// voxel is inside. The same value for any number of threads.
[[nodiscard]] std::optional<double> ssim(std::span<const float> a, std::span<const float> b,
                                         std::span<const std::uint8_t> inside, const Dims3& dims,
                                         const ThreadTeam& team, const SsimOptions& options = {});

// 1 where a voxel that is not 0 lies within the cube of this radius, else 0.
[[nodiscard]] std::vector<std::uint8_t> dilate(std::span<const std::uint8_t> mask,
                                               const Dims3& dims, int radius);

}  // namespace mezzotint
