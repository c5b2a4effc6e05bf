// Masks that hold what the model does not know, or that are no volumes.
#include <limits>

#include "cli/generate_test_base.h"

namespace mezzotint::testing {
namespace {

class MaskLabels : public GenerateTest {
 protected:
  void save(const NiftiBuilder& mask) const { write_bytes(in_folder("mask.nii"), mask.build()); }
};

TEST_F(MaskLabels, LabelsOutsideTheRecipe) {
  auto labels = head_labels(kDims);
  labels[100] = 7;
  labels[200] = 7;
  labels[300] = 3;
  save(head_mask(kDims).voxels(labels));
  expect_refused(usual(), {"mask.nii: 2 voxels are 7, 1 is 3",
                           "expected only 0 (background), 1 (brain), 2 (tumour)",
                           "--label-map \"VALUE=LABEL,...\""});
}

TEST_F(MaskLabels, ValuesThatAreNoLabels) {
  std::vector<float> values(960, 1.0F);
  values[3] = std::numeric_limits<float>::quiet_NaN();
  values[4] = 1.5F;
  save(head_mask(kDims).type(NiftiType::kFloat32).voxels(values));
  expect_refused(usual(), {"mask.nii: ", "nan", "1.5", "expected only 0 (background)"});
}

TEST_F(MaskLabels, AllZero) {
  save(head_mask(kDims).voxels(std::vector<std::uint8_t>(960)));
  expect_refused(usual(), {"mask.nii: all 960 voxels are 0", "check that this is the mask"});
}

TEST_F(MaskLabels, ALabelMapSaysWhatValuesMean) {
  const std::string expected = volume(usual());
  std::vector<std::uint16_t> values;
  for (const std::uint8_t label : head_labels(kDims)) {
    values.push_back(label == 2 ? 1000 : label == 1 ? 3 : 0);
  }
  save(head_mask(kDims).type(NiftiType::kUint16).voxels(values));
  Flags flags = with("--label-map", "3=brain,1000=TUMOUR").set("--overwrite");
  EXPECT_EQ(volume(flags), expected);
  const std::string sidecar = read_text(in_folder("out.json"));
  EXPECT_NE(sidecar.find("\"LabelMap\": \"3=brain,1000=TUMOUR\""), std::string::npos) << sidecar;
}

TEST_F(MaskLabels, LabelMapsThatDoNotFit) {
  expect_refused(with("--label-map", "1=brian,2=tumour"),
                 {"label-map: `brian` in `1=brian` is no label of this model"});
  expect_refused(with("--label-map", ","), {"label-map: `` is not VALUE=LABEL"});
  expect_refused(with("--label-map", "1=brain"),
                 {"mask.nii: ", "are 2, expected only the values of the label map (0, 1)"});
  expect_refused(with("--label-map", "*=background"), {"mask.nii: all 960 voxels are 0"});
}

TEST_F(MaskLabels, OneSlice) {
  save(head_mask({8, 10, 1}).voxels(std::vector<std::uint8_t>(80, 1)));
  expect_refused(usual(), {"mask.nii: 8x10x1 is a single slice", "expected a volume"});
}

// The volume could not be written on such a grid; better said before the work than after.
TEST_F(MaskLabels, LongerThanTheOutputCanBe) {
  NiftiBuilder mask(/*version=*/2);
  mask.dims({40000, 2, 2})
      .sform(1, Affine{{{1, 0, 0, 0}, {0, 1, 0, 0}, {0, 0, 1, 0}, {0, 0, 0, 1}}});
  save(mask.voxels(std::vector<std::uint8_t>(160000, 1)));
  expect_refused(usual(), {"mask.nii: 40000x2x2 voxels", "at most 32767 along each axis"});
}

}  // namespace
}  // namespace mezzotint::testing
