#include "imaging/ssim.h"

#include <gtest/gtest.h>

namespace mezzotint {
namespace {

constexpr Dims3 kDims{5, 4, 3};
constexpr std::size_t kVoxels = 60;

std::vector<float> pattern() {
  std::vector<float> values(kVoxels);
  for (std::size_t i = 0; i < kVoxels; ++i) {
    values[i] = static_cast<float>(static_cast<double>(i * 7 % 11) / 5.0 - 1);
  }
  return values;
}

std::vector<float> changed(std::vector<float> values) {
  for (std::size_t i = 0; i < kVoxels; ++i) {
    values[i] += (static_cast<float>(i * 5 % 7) - 3) / 16;
  }
  return values;
}

const std::vector<std::uint8_t> everywhere(kVoxels, 1);

TEST(Ssim, IsOneForEqualVolumes) {
  EXPECT_NEAR(ssim(pattern(), pattern(), everywhere, kDims, ThreadTeam(1)).value(), 1, 1e-12);
}

// A window of one voxel has no variance: (2 a b + C1) / (a^2 + b^2 + C1) with C1 = (0.01 * 2)^2.
TEST(Ssim, ComparesMeansInAWindowOfOneVoxel) {
  const std::vector<float> a{1};
  const std::vector<float> b{0.5F};
  const std::vector<std::uint8_t> inside{1};
  EXPECT_NEAR(ssim(a, b, inside, {1, 1, 1}, ThreadTeam(1)).value(), 1.0004 / 1.2504, 1e-15);
}

// Means 0, variances 1, covariance -1: (C2 - 2) / (C2 + 2) with C2 = (0.03 * 2)^2.
TEST(Ssim, IsNegativeForOppositeContrast) {
  const std::vector<float> a{1, -1};
  const std::vector<float> b{-1, 1};
  const std::vector<std::uint8_t> inside{1, 1};
  EXPECT_NEAR(ssim(a, b, inside, {2, 1, 1}, ThreadTeam(1)).value(), (0.0036 - 2) / (0.0036 + 2),
              1e-15);
}

// By numpy, with means of squared differences from each window's means.
TEST(Ssim, AgreesWithTheDirectFormula) {
  const auto a = pattern();
  const auto b = changed(a);
  const ThreadTeam team(2);
  EXPECT_NEAR(ssim(a, b, everywhere, kDims, team).value(), 0.9637062464311138, 1e-12);
  EXPECT_NEAR(ssim(a, b, everywhere, kDims, team, {2, 1}).value(), 0.9065685268391653, 1e-12);
  std::vector<std::uint8_t> third(kVoxels, 0);
  for (std::size_t i = 0; i < kVoxels; i += 3) {
    third[i] = 1;
  }
  EXPECT_NEAR(ssim(a, b, third, kDims, team, {1, 1}).value(), 0.8874113056625441, 1e-12);
}

TEST(Ssim, DoesNotDependOnThreads) {
  const auto a = pattern();
  const auto b = changed(a);
  EXPECT_EQ(ssim(a, b, everywhere, kDims, ThreadTeam(1)),
            ssim(a, b, everywhere, kDims, ThreadTeam(3)));
}

TEST(Ssim, IsAbsentWhereNothingIsInside) {
  const std::vector<std::uint8_t> nowhere(kVoxels, 0);
  EXPECT_FALSE(ssim(pattern(), changed(pattern()), nowhere, kDims, ThreadTeam(1)));
}

TEST(Dilate, ReachesACubeAndStopsAtBorders) {
  std::vector<std::uint8_t> mask(kVoxels, 0);
  mask[0] = 7;  // a corner
  const auto grown = dilate(mask, kDims, 1);
  for (std::int64_t z = 0; z < kDims[2]; ++z) {
    for (std::int64_t y = 0; y < kDims[1]; ++y) {
      for (std::int64_t x = 0; x < kDims[0]; ++x) {
        const auto i = static_cast<std::size_t>((z * kDims[1] + y) * kDims[0] + x);
        EXPECT_EQ(grown[i], x <= 1 && y <= 1 && z <= 1) << x << " " << y << " " << z;
      }
    }
  }
}

}  // namespace
}  // namespace mezzotint
