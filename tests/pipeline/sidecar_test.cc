#include "pipeline/sidecar.h"

#include <gtest/gtest.h>

namespace mezzotint {
namespace {

TEST(SidecarPath, ReplacesTheWholeEnding) {
  EXPECT_EQ(sidecar_path("scan.nii"), "scan.json");
  EXPECT_EQ(sidecar_path("scan.nii.gz"), "scan.json");
  EXPECT_EQ(sidecar_path("sub.01/scan.v2.nii.gz"), "sub.01/scan.v2.json");
  EXPECT_EQ(sidecar_path("a.json.nii"), "a.json.json");
  EXPECT_EQ(sidecar_path("scan.nii.nii.gz"), "scan.nii.json");
}

}  // namespace
}  // namespace mezzotint
