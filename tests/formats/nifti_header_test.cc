// What a header says about size, type and scaling, and each way in which it can be wrong.
#include <gtest/gtest.h>

#include <limits>
#include <string>

#include "formats/nifti.h"
#include "support/gzip.h"
#include "support/nifti_builder.h"

namespace mezzotint {
namespace {

using testing::NiftiBuilder;

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

void expect_refused(std::vector<std::byte> bytes, std::string_view part) {
  const auto image = decode_nifti(std::move(bytes), "mask.nii");
  ASSERT_FALSE(image.ok()) << "expected: " << part;
  EXPECT_EQ(image.error().message.rfind("mask.nii: ", 0), 0U) << image.error().message;
  EXPECT_NE(image.error().message.find(part), std::string::npos) << image.error().message;
  EXPECT_EQ(image.error().message.find('\n'), std::string::npos) << image.error().message;
}

NiftiImage decode(std::vector<std::byte> bytes) {
  auto image = decode_nifti(std::move(bytes), "mask.nii");
  EXPECT_TRUE(image.ok()) << image.error().message;
  return image ? std::move(*image) : NiftiImage{};
}

std::vector<std::byte> text_bytes(std::string_view text) {
  const auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

TEST(NiftiHeader, NotNiftiIsNamedForWhatItIs) {
  expect_refused({}, "is empty");
  expect_refused(text_bytes("label,volume\n1,20\n"), "is a text file");
  expect_refused(std::vector<std::byte>(1000, std::byte{0xff}), "is not NIfTI");
  auto dicom = std::vector<std::byte>(200);
  std::memcpy(dicom.data() + 128, "DICM", 4);
  expect_refused(dicom, "is a DICOM file");
  expect_refused(testing::gzipped(testing::gzipped(NiftiBuilder().build())), "is compressed twice");
  expect_refused(testing::gzipped({}), "is empty");
}

TEST(NiftiHeader, TruncationAtEveryLengthIsRefused) {
  for (const int version : {1, 2}) {
    const auto file = NiftiBuilder(version).build();
    const std::size_t header = version == 1 ? 348 : 540;
    for (std::size_t size = 4; size < file.size(); ++size) {
      expect_refused({file.begin(), file.begin() + static_cast<std::ptrdiff_t>(size)},
                     size < header ? "expected a NIfTI header of" : "the file is truncated");
    }
    EXPECT_EQ(decode(file).voxels(), 24);
  }
}

TEST(NiftiHeader, TruncatedContentInsideWholeGzipIsRefused) {
  auto file = NiftiBuilder().build();
  file.pop_back();
  expect_refused(testing::gzipped(file),
                 "has 375 bytes, but 4 x 3 x 2 voxels of uint8 from byte 352 need 376");
}

TEST(NiftiHeader, WrongMagicIsRefused) {
  expect_refused(NiftiBuilder().text(nifti1::kMagic, "n+9").build(), "without NIfTI's magic word");
  expect_refused(NiftiBuilder().text(nifti1::kMagic, std::string_view("\0\0\0\0", 4)).build(),
                 "Analyze 7.5");
  // A line ending that a text transfer changed.
  expect_refused(NiftiBuilder(2).text(nifti2::kMagic + 4, "\n\n").build(),
                 "without NIfTI's magic word");
}

TEST(NiftiHeader, HalfOfAPairIsNotASingleFile) {
  expect_refused(NiftiBuilder().text(nifti1::kMagic, "ni1").build(), ".hdr/.img pair");
}

TEST(NiftiHeader, BadDimensionsAreRefusedWithoutAllocating) {
  for (const int version : {1, 2}) {
    const auto with_dim = [&](std::size_t i, std::int64_t value) {
      return NiftiBuilder(version).dim(i, value).build();
    };
    expect_refused(with_dim(0, 0), "states 0 dimensions");
    expect_refused(with_dim(0, 8), "states 8 dimensions");
    expect_refused(with_dim(0, -3), "states -3 dimensions");
    expect_refused(with_dim(0, 2), "is a 2D image, expected a 3D volume");
    expect_refused(with_dim(2, 0), "dimension 2 is 0");
    expect_refused(with_dim(3, -2), "dimension 3 is -2");
    expect_refused(NiftiBuilder(version).dims({30000, 30000, 30000}).build(),
                   "30000 x 30000 x 30000 voxels of uint8 need more than 4 GiB");
    // Below the limit, but not there.
    expect_refused(NiftiBuilder(version).dims({1000, 1000, 1000}).build(), "is truncated");
    expect_refused(testing::gzipped(NiftiBuilder(version).dims({1000, 1000, 1000}).build()),
                   "is truncated");
  }
  constexpr std::int64_t kHuge = std::numeric_limits<std::int64_t>::max();
  expect_refused(NiftiBuilder(2).dims({kHuge, kHuge, kHuge}).build(), "need more than 4 GiB");
  expect_refused(NiftiBuilder(2).dims({kHuge, 1, 1}).build(), "need more than 4 GiB");
}

TEST(NiftiHeader, OneVolumeOnly) {
  const auto dims_of = [](const std::vector<std::int64_t>& dims) {
    std::int64_t count = 1;
    for (const std::int64_t dim : dims) {
      count *= dim;
    }
    return volume_dims(
        decode(NiftiBuilder()
                   .dims(dims)
                   .voxels(std::vector<std::uint8_t>(static_cast<std::size_t>(count)))
                   .build())
            .header,
        "mask.nii");
  };
  ASSERT_TRUE(dims_of({4, 3, 2, 1}).ok());
  EXPECT_EQ(*dims_of({4, 3, 2, 1}), (std::array<std::int64_t, 3>{4, 3, 2}));
  EXPECT_TRUE(dims_of({1, 3, 2, 1, 1, 1, 1}).ok());
  const auto two = dims_of({4, 3, 2, 2});
  ASSERT_FALSE(two.ok());
  EXPECT_EQ(two.error().message,
            "mask.nii: holds 4 x 3 x 2 x 2 voxels, expected one 3D volume; extract the one you "
            "mean");
  EXPECT_FALSE(dims_of({4, 3, 2, 1, 3}).ok());
}

TEST(NiftiHeader, TypesThatAreNotNumbersAreRefused) {
  for (const auto& [code, name] : {std::pair<int, const char*>{128, "RGB"},
                                   {2304, "RGBA"},
                                   {32, "complex64"},
                                   {1792, "complex128"},
                                   {1536, "float128"},
                                   {1, "binary"},
                                   {0, "unknown"},
                                   {77, "not a NIfTI type"}}) {
    expect_refused(NiftiBuilder().datatype(code, 24).build(), name);
  }
}

TEST(NiftiHeader, WrongBitpixIsNoted) {
  const auto image = decode(NiftiBuilder().datatype(2, 16).build());
  ASSERT_FALSE(image.header.notes.empty());
  EXPECT_EQ(image.header.notes[0], "bitpix is 16, but uint8 has 8 bits; the type is believed");
}

TEST(NiftiHeader, VoxelOffset) {
  const std::vector<std::uint8_t> values{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};
  const auto image =
      decode(NiftiBuilder().dims({3, 2, 2}).voxels(values).vox_offset(352 + 48).build(48));
  EXPECT_EQ(image.value(0), 0);
  EXPECT_EQ(image.value(11), 11);

  const auto zero = decode(NiftiBuilder().dims({3, 2, 2}).voxels(values).vox_offset(0).build());
  EXPECT_EQ(zero.value(11), 11);
  ASSERT_FALSE(zero.header.notes.empty());
  EXPECT_EQ(zero.header.notes[0], "vox_offset is 0; voxels are taken to begin at byte 352");

  for (const double bad : {-1.0, kNaN, kInfinity, 100.0, 352.5, 1e30}) {
    expect_refused(NiftiBuilder().vox_offset(bad).build(), "vox_offset is");
  }
  expect_refused(NiftiBuilder().vox_offset(1e6).build(), "is truncated");
  expect_refused(NiftiBuilder(2).vox_offset(-600).build(), "vox_offset is -600");
}

TEST(NiftiHeader, Scaling) {
  const auto scaled = [](double slope, double intercept) {
    return decode(NiftiBuilder()
                      .dims({3, 1, 1})
                      .voxels(std::vector<std::uint8_t>{0, 1, 2})
                      .scaling(slope, intercept)
                      .build());
  };
  EXPECT_EQ(scaled(2, -1).value(2), 3);
  EXPECT_EQ(scaled(0, 5).value(2), 2) << "slope 0 means no scaling, the intercept included";
  EXPECT_EQ(scaled(kNaN, kNaN).value(2), 2);
  EXPECT_EQ(scaled(kInfinity, 5).value(2), 2);
  EXPECT_EQ(scaled(2, kNaN).value(2), 4);
  ASSERT_FALSE(scaled(2, kNaN).header.notes.empty());
  EXPECT_EQ(scaled(2, kNaN).header.notes[0], "scl_inter is nan; 0 is used");
}

TEST(NiftiHeader, DescriptionEndsAtTheFirstZero) {
  EXPECT_EQ(
      decode(NiftiBuilder().text(nifti1::kDescrip, "made by hand").build()).header.description,
      "made by hand");
  const std::string full(80, 'd');
  EXPECT_EQ(decode(NiftiBuilder().text(nifti1::kDescrip, full).build()).header.description, full);
}

}  // namespace
}  // namespace mezzotint
