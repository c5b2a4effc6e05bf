// Which of a header's three ways to place voxels is used.
#include "formats/nifti_space.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "support/nifti_builder.h"

namespace mezzotint {
namespace {

using testing::NiftiBuilder;

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();
// Header fields are float32.
constexpr double kRounding = 1e-5;

const Affine oblique{{{1.5, 0.25, 0, -90}, {-0.25, 2, 0.5, -120}, {0, -0.5, 3, -70}, {0, 0, 0, 1}}};
const Affine singular{{{1, 2, 0, 0}, {2, 4, 0, 0}, {0, 0, 1, 0}, {0, 0, 0, 1}}};

NiftiHeader header_of(const NiftiBuilder& builder) {
  auto header = parse_nifti_header(builder.build(), "mask.nii");
  EXPECT_TRUE(header.ok()) << header.error().message;
  return header ? std::move(*header) : NiftiHeader{};
}

void expect_near(const Affine& a, const Affine& b) {
  for (std::size_t row = 0; row < 4; ++row) {
    for (std::size_t column = 0; column < 4; ++column) {
      EXPECT_NEAR(a[row][column], b[row][column], kRounding) << row << "," << column;
    }
  }
}

bool has_note(const NiftiHeader& header, std::string_view part) {
  return std::any_of(header.notes.begin(), header.notes.end(),
                     [=](const std::string& note) { return note.find(part) != std::string::npos; });
}

TEST(NiftiSpace, SformWins) {
  for (const int version : {1, 2}) {
    const auto header = header_of(NiftiBuilder(version)
                                      .pixdim(1, std::hypot(1.5, 0.25))
                                      .pixdim(2, std::hypot(0.25, 2, 0.5))
                                      .pixdim(3, std::hypot(0.5, 3))
                                      .sform(2, oblique)
                                      .qform(1, {0, 0, 0}, {5, 6, 7}));
    EXPECT_EQ(header.affine_source, AffineSource::kSform);
    EXPECT_EQ(header.affine, oblique);
    EXPECT_TRUE(has_note(header, "sform (code 2) and qform (code 1) differ by up to"));
    EXPECT_NEAR(header.spacing[1], std::hypot(0.25, 2, 0.5), 1e-12);
  }
}

TEST(NiftiSpace, AgreementIsNotNoted) {
  const auto header =
      header_of(NiftiBuilder().sform(1, identity_affine()).qform(1, {0, 0, 0}, {0, 0, 0}));
  EXPECT_TRUE(header.notes.empty()) << header.notes[0];
}

// Half a turn about an axis swaps two signs; qfac flips the third column besides.
TEST(NiftiSpace, QformWithQfac) {
  const auto turned = header_of(
      NiftiBuilder().pixdim(1, 2).pixdim(2, 3).pixdim(3, 4).qform(1, {0, 0, 1}, {10, 20, 30}));
  EXPECT_EQ(turned.affine_source, AffineSource::kQform);
  expect_near(turned.affine, {{{-2, 0, 0, 10}, {0, -3, 0, 20}, {0, 0, 4, 30}, {0, 0, 0, 1}}});
  EXPECT_TRUE(turned.notes.empty());

  const auto mirrored =
      header_of(NiftiBuilder().pixdim(0, -1).pixdim(1, 2).pixdim(2, 3).pixdim(3, 4).qform(
          1, {1, 0, 0}, {10, 20, 30}));
  expect_near(mirrored.affine, {{{2, 0, 0, 10}, {0, -3, 0, 20}, {0, 0, 4, 30}, {0, 0, 0, 1}}});
  const auto zero = header_of(NiftiBuilder().pixdim(0, 0).qform(1, {0, 0, 0}, {0, 0, 0}));
  EXPECT_EQ(zero.affine[2][2], 1) << "qfac 0 counts as 1";
}

// A rotation of 60 degrees about (1, 1, 1): columns from Rodrigues' formula.
TEST(NiftiSpace, QformRotation) {
  const double angle = std::acos(-1.0) / 3;
  const double part = std::sin(angle / 2) / std::sqrt(3.0);
  const auto header = header_of(NiftiBuilder(2).qform(1, {part, part, part}, {0, 0, 0}));
  const double diagonal = std::cos(angle) + (1 - std::cos(angle)) / 3;
  const double up = (1 - std::cos(angle)) / 3 + std::sin(angle) / std::sqrt(3.0);
  const double down = (1 - std::cos(angle)) / 3 - std::sin(angle) / std::sqrt(3.0);
  expect_near(
      header.affine,
      {{{diagonal, down, up, 0}, {up, diagonal, down, 0}, {down, up, diagonal, 0}, {0, 0, 0, 1}}});
}

TEST(NiftiSpace, QuaternionBeyondOneIsHalfATurn) {
  for (const double d : {1.0001, 1.0004}) {  // squares up to 1.001 are rounding
    const auto header = header_of(NiftiBuilder().qform(1, {0, 0, d}, {0, 0, 0}));
    expect_near(header.affine, scaling_affine({-1, -1, 1}));
    EXPECT_EQ(header.affine_source, AffineSource::kQform);
    EXPECT_TRUE(header.notes.empty());
  }
}

TEST(NiftiSpace, QuaternionFarBeyondOneIsNoRotation) {
  for (const double d : {1.001, 2.0, 1e30}) {
    const auto header = header_of(NiftiBuilder().qform(1, {0, 0, d}, {5, 6, 7}));
    EXPECT_EQ(header.affine_source, AffineSource::kPixdim) << d;
    EXPECT_TRUE(has_note(header,
                         "the qform (code 1) is not finite, no rotation or without voxel "
                         "sizes; the pixdim is used"));
  }
}

TEST(NiftiSpace, SingularSformFallsBack) {
  const auto header = header_of(NiftiBuilder().sform(2, singular).qform(1, {0, 0, 0}, {1, 2, 3}));
  EXPECT_EQ(header.affine_source, AffineSource::kQform);
  EXPECT_TRUE(has_note(header, "the sform (code 2) is singular or not finite; the qform is used"));

  Affine not_finite = oblique;
  not_finite[0][3] = kNaN;
  EXPECT_EQ(header_of(NiftiBuilder().sform(2, not_finite)).affine_source, AffineSource::kPixdim);
}

// A writer that copies the geometry must not state what was not used.
TEST(NiftiSpace, OnlyWhatCanBeUsedIsLeft) {
  for (const int version : {1, 2}) {
    const auto header = header_of(NiftiBuilder(version)
                                      .pixdim(0, -kInfinity)
                                      .pixdim(1, 0)
                                      .pixdim(4, kNaN)
                                      .pixdim(5, kInfinity)
                                      .units(1)
                                      .sform(2, scaling_affine({0.002, 0.003, 0.004}))
                                      .qform(1, {0, 0, 0.5}, {5, 6, 7}));
    const NiftiGeometry& geometry = header.geometry;
    EXPECT_EQ(geometry.sform_code, 2);
    EXPECT_EQ(geometry.qform_code, 0);
    EXPECT_EQ(geometry.quatern, (Vec3{}));
    EXPECT_EQ(geometry.qoffset, (Vec3{}));
    EXPECT_EQ(geometry.pixdim[0], -1);
    EXPECT_NEAR(geometry.pixdim[1], 0.002, 1e-9) << "in the header's own unit";
    EXPECT_NEAR(geometry.pixdim[3], 0.004, 1e-9);
    EXPECT_EQ(geometry.pixdim[4], 0);
    EXPECT_EQ(geometry.pixdim[5], 0);
    EXPECT_EQ(geometry.pixdim[6], 1);
  }
  const auto by_qform = header_of(NiftiBuilder().sform(2, singular).qform(1, {0, 0, 0}, {5, 6, 7}));
  EXPECT_EQ(by_qform.geometry.sform_code, 0);
  EXPECT_EQ(by_qform.geometry.srow, (std::array<std::array<double, 4>, 3>{}));
  EXPECT_EQ(by_qform.geometry.qform_code, 1);
  // A form that could be used stays, whatever its code.
  const auto unused = header_of(NiftiBuilder().sform(0, oblique).qform(0, {0, 0, 1}, {5, 6, 7}));
  EXPECT_EQ(unused.geometry.srow[1][1], 2);
  EXPECT_EQ(unused.geometry.quatern[2], 1);
}

TEST(NiftiSpace, WithoutCodesOnlyTheVoxelSize) {
  const auto header =
      header_of(NiftiBuilder().pixdim(1, 2).sform(0, oblique).qform(0, {0, 0, 1}, {1, 2, 3}));
  EXPECT_EQ(header.affine_source, AffineSource::kPixdim);
  EXPECT_EQ(header.affine, scaling_affine({2, 1, 1}));
  EXPECT_TRUE(has_note(header, "left and right cannot be told apart"));
}

TEST(NiftiSpace, BadVoxelSizes) {
  for (const double bad : {0.0, -1.0, kNaN, 1e30}) {
    const auto placed =
        header_of(NiftiBuilder().pixdim(2, bad).sform(1, scaling_affine({2, 3, 4})));
    EXPECT_EQ(placed.spacing, (Vec3{2, 3, 4}));
    EXPECT_TRUE(has_note(placed, "the sform is used")) << bad;

    const auto refused = parse_nifti_header(
        NiftiBuilder().pixdim(2, bad).qform(1, {0, 0, 0}, {0, 0, 0}).build(), "mask.nii");
    ASSERT_FALSE(refused.ok()) << bad;
    EXPECT_NE(refused.error().message.find("mask.nii: nothing places its voxels: sform code 0, "
                                           "qform code 1, voxel sizes 1 x "),
              std::string::npos)
        << refused.error().message;
  }
}

TEST(NiftiSpace, UnitsOtherThanMillimetres) {
  const auto metres =
      header_of(NiftiBuilder().units(1).sform(1, scaling_affine({0.001, 0.001, 0.002})));
  EXPECT_NEAR(metres.spacing[2], 2, kRounding);
  EXPECT_TRUE(has_note(metres, "sizes are stated in metres"));
  const auto microns =
      header_of(NiftiBuilder().units(3 | 8).sform(1, scaling_affine({1000, 1000, 500})));
  EXPECT_NEAR(microns.spacing[2], 0.5, kRounding);
}

}  // namespace
}  // namespace mezzotint
