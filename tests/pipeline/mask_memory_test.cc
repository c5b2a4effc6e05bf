// Memory that reading takes, by headers alone, against sums worked out by hand.
#include <gtest/gtest.h>

#include "formats/ckpt_files.h"
#include "pipeline/condition.h"
#include "pipeline/prepare.h"
#include "support/gzip.h"
#include "support/nifti_builder.h"

namespace mezzotint::testing {
namespace {

constexpr std::uint64_t kVoxels = 1000;
constexpr std::uint64_t kStart = 352;  // of a file, before its voxels

template <typename T>
std::vector<std::byte> image(NiftiType type) {
  return NiftiBuilder().dims({10, 10, 10}).type(type).voxels(std::vector<T>(kVoxels)).build();
}

class MaskMemory : public ::testing::Test {
 protected:
  MaskMemory() {
    std::filesystem::create_directory(folder_);
    put("bytes.nii", image<std::uint8_t>(NiftiType::kUint8));
    put("doubles.nii", image<double>(NiftiType::kFloat64));
  }
  ~MaskMemory() override { std::filesystem::remove_all(folder_); }

  void put(const std::string& name, std::span<const std::byte> content) const {
    std::ofstream(folder_ / name, std::ios::binary)
        .write(reinterpret_cast<const char*>(content.data()), std::ssize(content));
  }
  [[nodiscard]] std::filesystem::path in(const std::string& name) const { return folder_ / name; }

  std::filesystem::path folder_ = std::filesystem::path(::testing::TempDir()) /
                                  (std::string("mezzotint_mask_memory_") +
                                   ::testing::UnitTest::GetInstance()->current_test_info()->name());
};

TEST_F(MaskMemory, OfLabelsBesideTheirImage) {
  EXPECT_EQ(labels_read_bytes(in("bytes.nii")), kStart + 2 * kVoxels);
  EXPECT_EQ(labels_read_bytes(in("doubles.nii")), kStart + 9 * kVoxels);
  // Whole while it is unpacked, and gone when the labels come.
  const auto packed = gzipped(image<std::uint8_t>(NiftiType::kUint8));
  ASSERT_LT(packed.size(), kVoxels);
  put("packed.nii.gz", packed);
  EXPECT_EQ(labels_read_bytes(in("packed.nii.gz")), kStart + 2 * kVoxels);
  EXPECT_EQ(labels_read_bytes(in("absent.nii")), 0U);
}

TEST_F(MaskMemory, OfLabelsThatAreTurnedAndBroughtToAGrid) {
  EXPECT_EQ(condition_read_bytes(in("bytes.nii"), {4, 5, 6}), kStart + 2 * kVoxels);
  EXPECT_EQ(condition_read_bytes(in("bytes.nii"), {10, 10, 50}), 2 * kVoxels + 5000);
  EXPECT_EQ(condition_read_bytes(in("doubles.nii"), {4, 5, 6}), kStart + 9 * kVoxels);
}

TEST_F(MaskMemory, OfPrepare) {
  PrepareRequest request;
  request.mask = in("bytes.nii");
  EXPECT_EQ(prepare_bytes(request), kStart + 3 * kVoxels);
  request.t1 = in("doubles.nii");
  EXPECT_EQ(prepare_bytes(request), kStart + 10 * kVoxels);
  request.tumour = in("bytes.nii");
  EXPECT_EQ(prepare_bytes(request), 2 * kStart + 11 * kVoxels);
  request.preview = "preview.png";
  EXPECT_EQ(prepare_bytes(request), kStart + 22 * kVoxels);
  request.mask = in("absent.nii");
  request.t1.reset();
  request.tumour.reset();
  EXPECT_EQ(prepare_bytes(request), 0U);
}

}  // namespace
}  // namespace mezzotint::testing
