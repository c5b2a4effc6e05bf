// Affine maps of 3D space: voxel indices to world millimetres and back.
#pragma once

#include <array>
#include <optional>

namespace mezzotint {

using Vec3 = std::array<double, 3>;
// Row-major 4x4, last row 0 0 0 1. affine * (i, j, k, 1) is the world position of a voxel's centre.
using Affine = std::array<std::array<double, 4>, 4>;

[[nodiscard]] Affine identity_affine();
[[nodiscard]] Affine scaling_affine(const Vec3& scale);
[[nodiscard]] Affine multiply(const Affine& a, const Affine& b);
[[nodiscard]] Vec3 transform(const Affine& affine, const Vec3& point);
// Of the 3x3 part: a voxel's volume, negative when the axes are left-handed.
[[nodiscard]] double determinant(const Affine& affine);
// Lengths of the three columns: the voxel's size.
[[nodiscard]] Vec3 column_norms(const Affine& affine);
// Finite, columns between 1e-4 and 1e4 long, offsets within 1e7, and far enough from singular that
// inverting loses no more than six digits.
[[nodiscard]] bool is_usable(const Affine& affine);
// Nothing when the map is singular or not finite.
[[nodiscard]] std::optional<Affine> inverse(const Affine& affine);

}  // namespace mezzotint
