#include "pipeline/outputs.h"

#include <gtest/gtest.h>

namespace mezzotint {
namespace {

namespace fs = std::filesystem;

TEST(SidecarPath, ReplacesTheWholeEnding) {
  EXPECT_EQ(sidecar_path("scan.nii"), "scan.json");
  EXPECT_EQ(sidecar_path("scan.nii.gz"), "scan.json");
  EXPECT_EQ(sidecar_path("sub.01/scan.v2.nii.gz"), "sub.01/scan.v2.json");
  EXPECT_EQ(sidecar_path("a.json.nii"), "a.json.json");
  EXPECT_EQ(sidecar_path("scan.nii.nii.gz"), "scan.nii.json");
}

TEST(WithSuffix, GoesBeforeTheWholeEnding) {
  EXPECT_EQ(with_suffix("scan.nii", "_t1"), "scan_t1.nii");
  EXPECT_EQ(with_suffix("sub.01/scan.v2.nii.gz", "_t1"), "sub.01/scan.v2_t1.nii.gz");
}

TEST(OutputNames, OneImageChannelHasTheNameAskedFor) {
  GenerateRequest request;
  request.out = "a/scan.nii.gz";
  const OutputNames names =
      output_names(request, modality_names(recipe_of(RecipeKind::kWholeHead), 1));
  EXPECT_EQ(names.volumes, std::vector<fs::path>{"a/scan.nii.gz"});
  EXPECT_EQ(names.mask, std::nullopt);
  EXPECT_EQ(names.sidecar, "a/scan.json");
}

TEST(OutputNames, SeveralAreNamedByModalityWithTheMaskBesideThem) {
  GenerateRequest request;
  request.out = "scan.nii.gz";
  request.preview = "scan.png";
  const OutputNames names = output_names(request, modality_names(recipe_of(RecipeKind::kBrats), 4));
  EXPECT_EQ(names.volumes, (std::vector<fs::path>{"scan_t1.nii.gz", "scan_t1ce.nii.gz",
                                                  "scan_t2.nii.gz", "scan_flair.nii.gz"}));
  EXPECT_EQ(names.mask, "scan_seg.nii.gz");
  EXPECT_EQ(names.all().size(), 7U);
}

TEST(ModalityNames, AreNumbersWhereTheRecipeHasNone) {
  EXPECT_EQ(modality_names(recipe_of(RecipeKind::kGeneric), 2),
            (std::vector<std::string>{"image1", "image2"}));
}

}  // namespace
}  // namespace mezzotint
