// The volume is where the mask is, says that it is synthetic, and nothing about the patient.
#include <cstring>

#include "cli/generate_test_base.h"
#include "formats/gzip.h"

namespace mezzotint::testing {
namespace {

class VolumeHeader : public GenerateTest {
 protected:
  template <typename T>
  static T field(const std::string& bytes, std::size_t offset) {
    T value{};
    std::memcpy(&value, bytes.data() + offset, sizeof(T));
    return value;
  }
};

TEST_F(VolumeHeader, GeometryIsTheMasksBitForBit) {
  NiftiBuilder mask = head_mask(kDims);
  mask.units(2 | 8).pixdim(0, -1).pixdim(1, 2.1).pixdim(2, 1.9).pixdim(3, 2.3).pixdim(4, 1.75);
  mask.sform(3, Affine{{{2.1, 0, 0, -7.3}, {0, 1.9, 0, -8.1}, {0, 0, 2.3, -9.7}, {0, 0, 0, 1}}});
  mask.qform(1, {0.01, 0.02, 0.03}, {-7.3, -8.1, 9.7});
  write_bytes(in_folder("mask.nii"), mask.build());
  const std::string out = volume(usual());
  const std::string in = read_text(in_folder("mask.nii"));
  const auto expect_same = [&](std::size_t first, std::size_t end) {
    EXPECT_EQ(out.substr(first, end - first), in.substr(first, end - first)) << first;
  };
  expect_same(nifti1::kDim, nifti1::kDim + 8);
  expect_same(nifti1::kPixdim, nifti1::kPixdim + 32);
  expect_same(nifti1::kXyztUnits, nifti1::kXyztUnits + 1);
  expect_same(nifti1::kQformCode, nifti1::kSrow + 48);
  EXPECT_EQ(field<std::int16_t>(out, nifti1::kDatatype), 16);
  EXPECT_EQ(field<std::int16_t>(out, nifti1::kBitpix), 32);
  EXPECT_EQ(field<float>(out, nifti1::kSclSlope), 1.0F);
  EXPECT_EQ(field<float>(out, nifti1::kSclInter), 0.0F);
  EXPECT_EQ(out.size(), 352U + 960 * sizeof(float));
}

TEST_F(VolumeHeader, NoTextOfTheMaskIsCopied) {
  const std::string secret = "DOE^JANE";
  NiftiBuilder mask = head_mask(kDims);
  for (const std::size_t offset : {4, 14, 148, 228, 328}) {  // data_type, db_name, descrip,
    mask.text(offset, secret);                               // aux_file, intent_name
  }
  write_bytes(in_folder("mask.nii"), mask.build());
  Flags flags = with("--preview", in_folder("out.png").string());
  const std::string out = volume(flags);
  EXPECT_EQ(std::string(out.c_str() + nifti1::kDescrip),
            "Synthetic (Mezzotint); not for diagnosis");
  for (const char* name : {"out.nii", "out.json", "out.png"}) {
    EXPECT_EQ(read_text(in_folder(name)).find("DOE"), std::string::npos) << name;
  }
}

TEST_F(VolumeHeader, CompressedByTheNamesEnding) {
  const std::string plain = volume(usual());
  const std::string packed = volume(with("--out", in_folder("packed.nii.gz").string()));
  EXPECT_FALSE(is_gzip(std::as_bytes(std::span(plain))));
  ASSERT_TRUE(is_gzip(std::as_bytes(std::span(packed))));
  const auto content = gunzip(std::as_bytes(std::span(packed)), 1 << 20, "packed.nii.gz");
  ASSERT_TRUE(content.ok()) << content.error().message;
  EXPECT_EQ(std::string(reinterpret_cast<const char*>(content->data()), content->size()), plain);
  EXPECT_TRUE(std::filesystem::exists(in_folder("packed.json")));
}

}  // namespace
}  // namespace mezzotint::testing
