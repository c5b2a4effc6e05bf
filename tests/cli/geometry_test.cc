// Masks of other orientations, spacings and extents.
#include <fmt/format.h>

#include <cstring>

#include "cli/generate_test_base.h"
#include "imaging/reorient.h"

namespace mezzotint::testing {
namespace {

class Geometry : public GenerateTest {
 protected:
  static std::vector<float> voxels_of(const std::string& nifti) {
    std::vector<float> values((nifti.size() - nifti1::kFirstVoxel) / sizeof(float));
    std::memcpy(values.data(), nifti.data() + nifti1::kFirstVoxel, values.size() * sizeof(float));
    return values;
  }

  // The `fit` and the volume of a mask that ships with the demo model.
  CommandResult run_demo(const std::string& mask) const {
    Flags flags = usual();
    flags.set("--model", demo_model().string());
    flags.set("--mask", (demo_model() / "masks" / mask).string());
    flags.set("--size", "16");
    flags.set("--steps", "1");
    return run(flags);
  }
};

constexpr Affine kRas{{{2, 0, 0, -7}, {0, 2, 0, -8}, {0, 0, 2, -9}, {0, 0, 0, 1}}};

// Stored in another order and direction, a head is the same head.
TEST_F(Geometry, OrientationChangesNothingInTheWorld) {
  const Volume reference{{kDims, kRas}, voxels_of(volume(usual()))};
  for (const std::string frame : {"LPS", "PIR", "SRA"}) {
    const auto turn = reorientation_to(kRas, frame);
    ASSERT_TRUE(turn.ok());
    const LabelVolume mask = reorient(LabelVolume{{kDims, kRas}, head_labels(kDims)}, *turn);
    write_bytes(in_folder("turned.nii"),
                head_mask(mask.dims).sform(1, mask.affine).voxels(mask.data).build());
    Flags flags = with("--mask", in_folder("turned.nii").string());
    flags.set("--out", in_folder(fmt::format("{}.nii", frame)).string());
    const CommandResult result = run(flags);
    ASSERT_EQ(result.exit_code, 0) << result.err;
    EXPECT_NE(result.err.find(fmt::format("turned from {} to RAS+", frame)), std::string::npos)
        << result.err;
    EXPECT_EQ(voxels_of(read_text(flags.at("--out"))), reorient(reference, *turn).data) << frame;
  }
}

TEST_F(Geometry, AnotherSpacingIsResampledInTheWorld) {
  const CommandResult result = run_demo("healthy-3mm.nii.gz");
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_NE(result.err.find("64x64x64 at 3 mm resampled by world coordinates to 16x16x16 at 6 mm"),
            std::string::npos)
      << result.err;
  // 16 voxels of 6 mm do not hold 64 of 3 mm.
  EXPECT_NE(result.err.find("the mask's field is 192 mm along axis 0, the model's grid 96 mm"),
            std::string::npos)
      << result.err;
  EXPECT_EQ(voxels_of(read_text(in_folder("out.nii"))).size(), 64U * 64 * 64);
}

TEST_F(Geometry, OneMillimetreIsResampledInTheWorld) {
  const CommandResult result = run_demo("tumour-large-1mm.nii.gz");
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_NE(result.err.find("at 1 mm resampled by world coordinates to 16x16x16 at 6 mm"),
            std::string::npos)
      << result.err;
}

TEST_F(Geometry, AnUnknownSpacingIsStretched) {
  const CommandResult result = run(with("--size", "16"));
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_NE(result.err.find("8x10x12 stretched to 16x16x16 (the model's spacing is unknown)"),
            std::string::npos)
      << result.err;
  EXPECT_EQ(voxels_of(read_text(in_folder("out.nii"))).size(), 960U);
}

}  // namespace
}  // namespace mezzotint::testing
