// Masks that are missing, broken, or hold what the model does not know.
#include <sys/stat.h>
#include <unistd.h>

#include <limits>

#include "cli/generate_test_base.h"
#include "formats/gzip.h"

namespace mezzotint::testing {
namespace {

class MaskFile : public GenerateTest {
 protected:
  void save(const NiftiBuilder& mask) const { write_bytes(in_folder("mask.nii"), mask.build()); }
};

TEST_F(MaskFile, MissingOrNoFile) {
  expect_refused(with("--mask", in_folder("nowhere.nii").string()),
                 {"nowhere.nii: cannot open: No such file or directory"});
  expect_refused(with("--mask", folder_.path().string()), {": not a regular file"});
  ASSERT_EQ(::mkfifo(in_folder("pipe.nii").c_str(), 0600), 0);
  expect_refused(with("--mask", in_folder("pipe.nii").string()), {"pipe.nii: not a regular file"});
}

TEST_F(MaskFile, Unreadable) {
  if (::geteuid() == 0) {
    GTEST_SKIP() << "root reads everything";
  }
  ASSERT_EQ(::chmod(in_folder("mask.nii").c_str(), 0), 0);
  const CommandResult result = run(usual());
  ::chmod(in_folder("mask.nii").c_str(), 0600);
  EXPECT_EQ(result.exit_code, 1);
  expect_one_line(result.err, {"mask.nii: cannot open: Permission denied"});
}

TEST_F(MaskFile, OfAnotherKind) {
  expect_refused(with("--mask", in_folder("model.safetensors").string()),
                 {"model.safetensors", "NIfTI"});
  write_text(in_folder("mask.nii"), "");
  expect_refused(usual(), {"mask.nii", "NIfTI"});
}

TEST_F(MaskFile, Truncated) {
  const std::string whole = read_text(in_folder("mask.nii"));
  write_text(in_folder("mask.nii"), whole.substr(0, whole.size() - 100));
  expect_refused(usual(), {"mask.nii", "truncated"});
  const auto packed = gzip(std::as_bytes(std::span(whole)));
  ASSERT_TRUE(packed.ok());
  write_bytes(in_folder("mask.nii"), std::span(*packed).first(packed->size() / 2));
  expect_refused(usual(), {"mask.nii", "truncated"});
}

TEST_F(MaskFile, LabelsOutsideTheRecipe) {
  auto labels = head_labels(kDims);
  labels[100] = 7;
  labels[200] = 7;
  labels[300] = 3;
  save(head_mask(kDims).voxels(labels));
  expect_refused(usual(), {"mask.nii: 2 voxels are 7, 1 is 3",
                           "expected only 0 (background), 1 (brain), 2 (tumour)",
                           "--label-map \"VALUE=LABEL,...\""});
}

TEST_F(MaskFile, ValuesThatAreNoLabels) {
  std::vector<float> values(960, 1.0F);
  values[3] = std::numeric_limits<float>::quiet_NaN();
  values[4] = 1.5F;
  save(head_mask(kDims).type(NiftiType::kFloat32).voxels(values));
  expect_refused(usual(), {"mask.nii: ", "nan", "1.5", "expected only 0 (background)"});
}

TEST_F(MaskFile, AllZero) {
  save(head_mask(kDims).voxels(std::vector<std::uint8_t>(960)));
  expect_refused(usual(), {"mask.nii: all 960 voxels are 0", "check that this is the mask"});
}

TEST_F(MaskFile, ALabelMapSaysWhatValuesMean) {
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

TEST_F(MaskFile, LabelMapsThatDoNotFit) {
  expect_refused(with("--label-map", "1=brian,2=tumour"),
                 {"label-map: `brian` in `1=brian` is no label of this model"});
  expect_refused(with("--label-map", ""), {"label-map: `` is not VALUE=LABEL"});
  expect_refused(with("--label-map", "1=brain"),
                 {"mask.nii: ", "are 2, expected only the values of the label map (0, 1)"});
  expect_refused(with("--label-map", "*=background"), {"mask.nii: all 960 voxels are 0"});
}

TEST_F(MaskFile, OneSlice) {
  save(head_mask({8, 10, 1}).voxels(std::vector<std::uint8_t>(80, 1)));
  expect_refused(usual(), {"mask.nii: 8x10x1 is a single slice", "expected a volume"});
}

// The volume could not be written on such a grid; better said before the work than after.
TEST_F(MaskFile, LongerThanTheOutputCanBe) {
  NiftiBuilder mask(/*version=*/2);
  mask.dims({40000, 2, 2})
      .sform(1, Affine{{{1, 0, 0, 0}, {0, 1, 0, 0}, {0, 0, 1, 0}, {0, 0, 0, 1}}});
  save(mask.voxels(std::vector<std::uint8_t>(160000, 1)));
  expect_refused(usual(), {"mask.nii: 40000x2x2 voxels", "at most 32767 along each axis"});
}

}  // namespace
}  // namespace mezzotint::testing
