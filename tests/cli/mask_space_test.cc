// What the header of a mask may say about space: which of sform, qform and voxel sizes is used,
// that it is said, and that the volume's header does not claim what was not used.
#include <cmath>
#include <limits>

#include "cli/generate_test_base.h"
#include "formats/nifti.h"

namespace mezzotint::testing {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr Affine kRas{{{2, 0, 0, -7}, {0, 2, 0, -8}, {0, 0, 2, -9}, {0, 0, 0, 1}}};
constexpr Affine kSingular{{{2, 4, 0, -7}, {1, 2, 0, -8}, {0, 0, 2, -9}, {0, 0, 0, 1}}};

class MaskSpace : public GenerateTest {
 protected:
  // head_mask() without its sform.
  static NiftiBuilder unplaced(int version = 1) {
    NiftiBuilder mask(version);
    mask.dims({kDims[0], kDims[1], kDims[2]}).units(2).voxels(head_labels(kDims));
    return mask.pixdim(1, 2).pixdim(2, 2).pixdim(3, 2);
  }

  // Runs with this mask and returns the volume; `said` holds parts of the notes, none when empty.
  NiftiImage generate(const NiftiBuilder& mask, const std::vector<std::string>& said) const {
    write_bytes(in_folder("mask.nii"), mask.build());
    const CommandResult result = run(usual().set("--overwrite"));
    EXPECT_EQ(result.exit_code, 0) << result.err;
    for (const std::string& part : said) {
      EXPECT_NE(result.err.find(part), std::string::npos)
          << "expected: " << part << "\nfound: " << result.err;
    }
    if (said.empty()) {
      EXPECT_EQ(result.err.find("  note "), std::string::npos) << result.err;
    }
    auto image = read_nifti(in_folder("out.nii"));
    EXPECT_TRUE(image.ok()) << image.error().message;
    return image ? std::move(*image) : NiftiImage{};
  }

  // What another reader of the volume would use, and only that.
  static void expect_placed(const NiftiImage& image, AffineSource source, const Affine& affine) {
    EXPECT_EQ(image.header.affine_source, source);
    for (std::size_t i = 0; i < 16; ++i) {
      EXPECT_NEAR(image.header.affine[i / 4][i % 4], affine[i / 4][i % 4], 1e-5) << i;
    }
    if (source != AffineSource::kPixdim) {
      EXPECT_TRUE(image.header.notes.empty()) << image.header.notes[0];
    }
  }
};

TEST_F(MaskSpace, SformBeforeQform) {
  const NiftiImage image = generate(unplaced().sform(2, kRas).qform(1, {0, 0, 0}, {5, -8, -9}),
                                    {"sform (code 2) and qform (code 1) differ by up to 12 mm; the "
                                     "sform is used"});
  EXPECT_EQ(image.header.affine, kRas);
  EXPECT_EQ(image.header.geometry.sform_code, 2);
  EXPECT_EQ(image.header.geometry.qform_code, 1);
}

TEST_F(MaskSpace, AgreementIsNotSaid) {
  const NiftiImage image =
      generate(unplaced().sform(2, kRas).qform(1, {0, 0, 0}, {-7, -8, -9}), {});
  expect_placed(image, AffineSource::kSform, kRas);
}

TEST_F(MaskSpace, AnSformThatIsNone) {
  Affine not_finite = kRas;
  not_finite[1][3] = kNaN;
  for (const Affine& sform : {kSingular, Affine{}, not_finite}) {
    const NiftiImage image =
        generate(unplaced().sform(2, sform).qform(1, {0, 0, 0}, {-7, -8, -9}),
                 {"the sform (code 2) is singular or not finite; the qform is used"});
    expect_placed(image, AffineSource::kQform, kRas);
    EXPECT_EQ(image.header.geometry.sform_code, 0);
    EXPECT_EQ(image.header.geometry.qform_code, 1);
    const auto& srow = image.header.geometry.srow;
    EXPECT_EQ(srow, (std::array<std::array<double, 4>, 3>{}));
  }
}

TEST_F(MaskSpace, NeitherFormIsOne) {
  const NiftiImage image = generate(
      unplaced().sform(2, kSingular).qform(3, {kNaN, 0, 0}, {-7, -8, -9}),
      {"the sform (code 2) is singular or not finite; the pixdim is used",
       "the qform (code 3) is not finite, no rotation or without voxel sizes; the pixdim is used",
       "left and right cannot be told apart"});
  expect_placed(image, AffineSource::kPixdim, scaling_affine({2, 2, 2}));
  EXPECT_EQ(image.header.geometry.sform_code, 0);
  EXPECT_EQ(image.header.geometry.qform_code, 0);
}

TEST_F(MaskSpace, VoxelSizesAlone) {
  const NiftiImage image =
      generate(unplaced().sform(0, kRas).qform(0, {0, 0, 1}, {1, 2, 3}),
               {"the header does not state the orientation; axes are taken as right, anterior, "
                "superior, and left and right cannot be told apart"});
  expect_placed(image, AffineSource::kPixdim, scaling_affine({2, 2, 2}));
  EXPECT_EQ(image.header.geometry.sform_code, 0);
  EXPECT_EQ(image.header.geometry.qform_code, 0);
}

// The third axis runs the other way: the same volume as with the sform that says so.
TEST_F(MaskSpace, QfacIsHonoured) {
  Affine mirrored = kRas;
  mirrored[2][2] = -2;
  const NiftiImage by_sform = generate(unplaced().sform(1, mirrored), {});
  const NiftiImage by_qform =
      generate(unplaced().pixdim(0, -1).qform(1, {0, 0, 0}, {-7, -8, -9}), {});
  expect_placed(by_qform, AffineSource::kQform, mirrored);
  EXPECT_EQ(by_qform.header.geometry.pixdim[0], -1);
  const NiftiImage unmirrored =
      generate(unplaced().pixdim(0, 1).qform(1, {0, 0, 0}, {-7, -8, -9}), {});
  const auto voxels = [](const NiftiImage& image) {
    std::vector<float> values(static_cast<std::size_t>(image.voxels()));
    image.to_float(values);
    return values;
  };
  EXPECT_EQ(voxels(by_qform), voxels(by_sform));
  EXPECT_NE(voxels(by_qform), voxels(unmirrored));
}

TEST_F(MaskSpace, VoxelSizesThatAreNoneBesideAnSform) {
  for (const double bad : {0.0, -2.0, kNaN, HUGE_VAL}) {
    SCOPED_TRACE(bad);
    const NiftiImage image =
        generate(unplaced().sform(1, kRas).qform(1, {0, 0, 0}, {-7, -8, -9}).pixdim(2, bad),
                 {"pixdim says voxels of 2 x ", "mm, the sform 2 x 2 x 2 mm; the sform is used",
                  "the qform (code 1) is not finite, no rotation or without voxel sizes; the sform "
                  "is used"});
    expect_placed(image, AffineSource::kSform, kRas);
    EXPECT_EQ(image.header.geometry.pixdim[2], 2);
    EXPECT_EQ(image.header.geometry.qform_code, 0);
  }
}

TEST_F(MaskSpace, NothingPlacesTheVoxels) {
  for (const auto& [bad, text] : {std::pair{0.0, "2 x 0 x 2"},
                                  {-2.0, "2 x -2 x 2"},
                                  {kNaN, "2 x nan x 2"},
                                  {HUGE_VAL, "2 x inf x 2"}}) {
    write_bytes(in_folder("mask.nii"),
                unplaced().qform(1, {0, 0, 0}, {0, 0, 0}).pixdim(2, bad).build());
    expect_refused(usual(), {"mask.nii: nothing places its voxels: sform code 0, qform code 1, "
                             "voxel sizes ",
                             text, "expected an invertible sform or positive voxel sizes"});
  }
}

// b^2 + c^2 + d^2 is at most 1. A little more is rounding; much more is no rotation at all.
TEST_F(MaskSpace, QuaternionsLongerThanOne) {
  const NiftiImage rounded = generate(unplaced().qform(1, {0, 0, 1.0002}, {7, 8, -9}), {});
  expect_placed(rounded, AffineSource::kQform,
                Affine{{{-2, 0, 0, 7}, {0, -2, 0, 8}, {0, 0, 2, -9}, {0, 0, 0, 1}}});
  const NiftiImage broken = generate(
      unplaced().qform(1, {0.8, 0.8, 0.8}, {7, 8, -9}),
      {"the qform (code 1) is not finite, no rotation or without voxel sizes; the pixdim is used",
       "left and right cannot be told apart"});
  expect_placed(broken, AffineSource::kPixdim, scaling_affine({2, 2, 2}));
  EXPECT_EQ(broken.header.geometry.qform_code, 0);
}

TEST_F(MaskSpace, Metres) {
  Affine metres = kRas;
  for (std::size_t i = 0; i < 12; ++i) {
    metres[i / 4][i % 4] /= 1000;
  }
  NiftiBuilder mask = unplaced().units(1).sform(1, metres);
  mask.pixdim(1, 0.002).pixdim(2, 0.002).pixdim(3, 0.002);
  const std::string said = "sizes are stated in metres and taken as 2 x 2 x 2 mm";
  const NiftiImage image = generate(mask, {said});
  EXPECT_EQ(image.header.notes, std::vector<std::string>{said});
  for (std::size_t i = 0; i < 12; ++i) {
    EXPECT_NEAR(image.header.affine[i / 4][i % 4], kRas[i / 4][i % 4], 1e-5);
  }
}

// The volume is NIfTI-1, whose numbers are float32.
TEST_F(MaskSpace, NumbersOfNifti2BeyondFloat32) {
  NiftiBuilder mask = unplaced(2).sform(1, kRas).qform(1, {0, 0, 0}, {1e300, 0, 0});
  mask.pixdim(0, -1e300).pixdim(4, 1e300).pixdim(5, kNaN);
  const NiftiImage image = generate(mask, {"the qform (code 1) is not finite"});
  expect_placed(image, AffineSource::kSform, kRas);
  EXPECT_EQ(image.header.geometry.pixdim, (std::array<double, 8>{-1, 2, 2, 2, 0, 0, 1, 1}));
}

}  // namespace
}  // namespace mezzotint::testing
