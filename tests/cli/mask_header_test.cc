// What the header of a mask may say about sizes, types, scaling and where the voxels are: one row
// per case, each either taken like the plain mask or refused.
#include <cstring>
#include <functional>
#include <limits>

#include "cli/generate_test_base.h"
#include "support/gzip.h"

namespace mezzotint::testing {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr Dims3 kMaskDims{8, 10, 12};

// The labels in another type, as stored = (label - intercept) / slope.
template <typename T>
std::vector<T> stored(double slope = 1, double intercept = 0) {
  std::vector<T> values;
  for (const std::uint8_t label : head_labels(kMaskDims)) {
    values.push_back(static_cast<T>((label - intercept) / slope));
  }
  return values;
}

// head_mask() in another version and byte order.
NiftiBuilder mask_as(int version, bool big_endian) {
  NiftiBuilder mask(version, big_endian);
  mask.dims({8, 10, 12}).pixdim(1, 2).pixdim(2, 2).pixdim(3, 2).units(2);
  mask.sform(1, Affine{{{2, 0, 0, -7}, {0, 2, 0, -8}, {0, 0, 2, -9}, {0, 0, 0, 1}}});
  mask.type(NiftiType::kInt16).voxels(stored<std::int16_t>());
  return mask;
}

template <typename T>
std::vector<std::byte> typed(NiftiType type) {
  return head_mask(kMaskDims).type(type).voxels(stored<T>()).build();
}

std::vector<std::byte> with_dims(const std::vector<std::int64_t>& dims) {
  return head_mask(kMaskDims).dims(dims).build();
}

std::vector<std::byte> with_dim(std::size_t i, std::int64_t value) {
  return head_mask(kMaskDims).dim(i, value).build();
}

std::vector<std::byte> with_datatype(int code, int bits) {
  return head_mask(kMaskDims).datatype(code, bits).build();
}

std::vector<std::byte> with_scaling(double slope, double intercept) {
  return head_mask(kMaskDims).scaling(slope, intercept).build();
}

std::vector<std::byte> with_vox_offset(double offset) {
  return head_mask(kMaskDims).vox_offset(offset).build();
}

// One extension of 32 bytes between the header and the voxels.
std::vector<std::byte> with_extension() {
  auto file = head_mask(kMaskDims).vox_offset(352 + 32).build(32);
  const auto put = [&](std::size_t offset, std::int32_t value) {
    std::memcpy(file.data() + offset, &value, sizeof(value));
  };
  put(348, 1);
  put(352, 32);
  put(356, 6);  // a comment
  std::memcpy(file.data() + 360, "DOE^JANE", 8);
  return file;
}

std::vector<std::byte> with_bytes_after(std::size_t count) {
  auto file = head_mask(kMaskDims).build();
  file.resize(file.size() + count, std::byte{0x77});
  return file;
}

std::vector<std::byte> without_last_bytes(std::size_t count) {
  auto file = head_mask(kMaskDims).build();
  file.resize(file.size() - count);
  return file;
}

struct HeaderCase {
  const char* name;
  std::function<std::vector<std::byte>()> file;
  const char* said;  // taken: the note, or nullptr for none; refused: part of the line
};

// For messages of the test itself.
void PrintTo(const HeaderCase& header, std::ostream* stream) {
  *stream << header.name;
}

std::string name_of_case(const ::testing::TestParamInfo<HeaderCase>& info) {
  return info.param.name;
}

class MaskTaken : public GenerateTest, public ::testing::WithParamInterface<HeaderCase> {};

// The whole volume, its header included, is the plain mask's.
TEST_P(MaskTaken, LikeThePlainMask) {
  const std::string expected = volume(with("--out", in_folder("plain.nii").string()));
  write_bytes(in_folder("mask.nii"), GetParam().file());
  const CommandResult result = run(usual());
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_TRUE(read_text(in_folder("out.nii")) == expected);
  if (GetParam().said != nullptr) {
    EXPECT_NE(result.err.find(GetParam().said), std::string::npos) << result.err;
  } else {
    EXPECT_EQ(result.err.find("  note "), std::string::npos) << result.err;
  }
  EXPECT_EQ(read_text(in_folder("out.nii")).find("DOE"), std::string::npos);
}

INSTANTIATE_TEST_SUITE_P(
    Headers, MaskTaken,
    ::testing::Values(
        HeaderCase{"Int8", [] { return typed<std::int8_t>(NiftiType::kInt8); }, nullptr},
        HeaderCase{"Uint16", [] { return typed<std::uint16_t>(NiftiType::kUint16); }, nullptr},
        HeaderCase{"Int16", [] { return typed<std::int16_t>(NiftiType::kInt16); }, nullptr},
        HeaderCase{"Uint32", [] { return typed<std::uint32_t>(NiftiType::kUint32); }, nullptr},
        HeaderCase{"Int32", [] { return typed<std::int32_t>(NiftiType::kInt32); }, nullptr},
        HeaderCase{"Uint64", [] { return typed<std::uint64_t>(NiftiType::kUint64); }, nullptr},
        HeaderCase{"Int64", [] { return typed<std::int64_t>(NiftiType::kInt64); }, nullptr},
        HeaderCase{"Float32", [] { return typed<float>(NiftiType::kFloat32); }, nullptr},
        HeaderCase{"Float64", [] { return typed<double>(NiftiType::kFloat64); }, nullptr},
        HeaderCase{"BigEndian", [] { return mask_as(1, true).build(); }, nullptr},
        HeaderCase{"Nifti2", [] { return mask_as(2, false).build(); }, nullptr},
        HeaderCase{"Nifti2BigEndian", [] { return mask_as(2, true).build(); }, nullptr},
        HeaderCase{"Scaled",
                   [] {
                     return head_mask(kMaskDims)
                         .type(NiftiType::kInt16)
                         .scaling(-0.5, 3)
                         .voxels(stored<std::int16_t>(-0.5, 3))
                         .build();
                   },
                   nullptr},
        // 1/3 of 6 is not 2 in float32, but within the tolerance of labels.
        HeaderCase{"ScaledInexactly",
                   [] {
                     return head_mask(kMaskDims)
                         .scaling(1.0 / 3, 0)
                         .voxels(stored<std::uint8_t>(1.0 / 3))
                         .build();
                   },
                   nullptr},
        HeaderCase{"SlopeZero", [] { return with_scaling(0, 5); }, nullptr},
        HeaderCase{"SlopeNaN", [] { return with_scaling(kNaN, kNaN); }, nullptr},
        HeaderCase{"SlopeInfinite", [] { return with_scaling(kInfinity, 5); }, nullptr},
        HeaderCase{"InterceptNaN", [] { return with_scaling(1, kNaN); },
                   "note       scl_inter is nan; 0 is used"},
        HeaderCase{"VoxelsFarther",
                   [] { return head_mask(kMaskDims).vox_offset(352 + 64).build(64); }, nullptr},
        HeaderCase{"VoxOffsetZero", [] { return with_vox_offset(0); },
                   "note       vox_offset is 0; voxels are taken to begin at byte 352"},
        HeaderCase{"Extension", with_extension, nullptr},
        HeaderCase{"OneVolumeIn4D",
                   [] {
                     return with_dims({8, 10, 12, 1});
                   },
                   nullptr},
        HeaderCase{"OneVolumeIn7D",
                   [] {
                     return with_dims({8, 10, 12, 1, 1, 1, 1});
                   },
                   nullptr},
        HeaderCase{"BytesAfterTheVoxels", [] { return with_bytes_after(1000); }, nullptr},
        HeaderCase{"WrongBitpix", [] { return with_datatype(2, 16); },
                   "note       bitpix is 16, but uint8 has 8 bits; the type is believed"}),
    name_of_case);

class MaskRefused : public GenerateTest, public ::testing::WithParamInterface<HeaderCase> {};

TEST_P(MaskRefused, InOneLine) {
  write_bytes(in_folder("mask.nii"), GetParam().file());
  expect_refused(usual(), {"mask.nii: ", GetParam().said});
}

INSTANTIATE_TEST_SUITE_P(
    Headers, MaskRefused,
    ::testing::Values(
        HeaderCase{"DimZero", [] { return with_dim(2, 0); },
                   "dimension 2 is 0, expected at least 1; the header is damaged"},
        HeaderCase{"DimNegative", [] { return with_dim(3, -12); },
                   "dimension 3 is -12, expected at least 1; the header is damaged"},
        HeaderCase{"RankZero", [] { return with_dim(0, 0); },
                   "states 0 dimensions, expected 3 to 7; the header is damaged"},
        HeaderCase{"RankNegative", [] { return with_dim(0, -1); },
                   "states -1 dimensions, expected 3 to 7"},
        HeaderCase{"RankEight", [] { return with_dim(0, 8); },
                   "states 8 dimensions, expected 3 to 7"},
        HeaderCase{"Flat",
                   [] {
                     return with_dims({8, 10});
                   },
                   "is a 2D image, expected a 3D volume"},
        HeaderCase{"TwoVolumes",
                   [] {
                     return with_dims({8, 10, 6, 2});
                   },
                   "holds 8 x 10 x 6 x 2 voxels, expected one 3D volume; extract the one you mean"},
        HeaderCase{"VectorsOfThree",
                   [] {
                     return with_dims({8, 10, 4, 1, 3});
                   },
                   "holds 8 x 10 x 4 x 1 x 3 voxels, expected one 3D volume"},
        HeaderCase{"Rgb", [] { return with_datatype(128, 24); },
                   "data type 128 (RGB) cannot be read, expected integers or real numbers"},
        HeaderCase{"Rgba", [] { return with_datatype(2304, 32); }, "data type 2304 (RGBA)"},
        HeaderCase{"Complex64", [] { return with_datatype(32, 64); }, "data type 32 (complex64)"},
        HeaderCase{"Complex128", [] { return with_datatype(1792, 128); },
                   "data type 1792 (complex128)"},
        HeaderCase{"Float128", [] { return with_datatype(1536, 128); },
                   "data type 1536 (float128)"},
        HeaderCase{"Bits", [] { return with_datatype(1, 1); }, "data type 1 (binary)"},
        HeaderCase{"NoType", [] { return with_datatype(0, 0); }, "data type 0 (unknown)"},
        HeaderCase{"VoxOffsetNaN", [] { return with_vox_offset(kNaN); },
                   "vox_offset is nan, expected a whole number of at least 352"},
        HeaderCase{"VoxOffsetNegative", [] { return with_vox_offset(-352); },
                   "vox_offset is -352, expected a whole number of at least 352"},
        HeaderCase{"VoxOffsetInTheHeader", [] { return with_vox_offset(348); },
                   "vox_offset is 348, expected"},
        HeaderCase{"VoxOffsetFraction", [] { return with_vox_offset(352.5); },
                   "vox_offset is 352.5, expected a whole number"},
        HeaderCase{"VoxOffsetBeyondTheEnd", [] { return with_vox_offset(1e6); },
                   "8 x 10 x 12 voxels of uint8 from byte 1000000 need 1000960: the file is "
                   "truncated"},
        HeaderCase{"OneVoxelShort", [] { return without_last_bytes(1); },
                   "has 1311 bytes, but 8 x 10 x 12 voxels of uint8 from byte 352 need 1312: the "
                   "file is truncated; copy it again"},
        HeaderCase{"HeaderOnly", [] { return without_last_bytes(960); }, "the file is truncated"},
        HeaderCase{"HalfAHeader", [] { return without_last_bytes(960 + 152); },
                   "has 200 bytes, expected a NIfTI header of 348: the file is truncated"},
        HeaderCase{"ScaledToNothing", [] { return with_scaling(1e-30, 0); },
                   "all 960 voxels are 0 (background), expected some of"},
        HeaderCase{"ScaledToInfinity",
                   [] {
                     return head_mask(kMaskDims)
                         .type(NiftiType::kFloat64)
                         .scaling(1e30, 0)
                         .voxels(std::vector<double>(960, 1e300))
                         .build();
                   },
                   "960 voxels are inf, expected only 0 (background)"},
        HeaderCase{"Analyze",
                   [] {
                     return head_mask(kMaskDims)
                         .text(nifti1::kMagic, std::string_view("\0\0\0\0", 4))
                         .build();
                   },
                   "without NIfTI's magic word (an Analyze 7.5 file has none"}),
    name_of_case);

// What a header claims costs nothing until the bytes are there.
TEST_F(GenerateTest, ClaimedSizesAllocateNothing) {
  write_text(in_folder("mask.nii"), "no image\n");
  const CommandResult text = run(usual());
  EXPECT_EQ(text.exit_code, 1);
  for (const std::vector<std::int64_t>& dims :
       {std::vector<std::int64_t>{32767, 32767, 32767}, {1600, 1600, 1600}}) {
    SCOPED_TRACE(dims[0]);
    for (const auto& file :
         {head_mask(kDims).dims(dims).build(), gzipped(head_mask(kDims).dims(dims).build())}) {
      write_bytes(in_folder("mask.nii"), file);
      const CommandResult result = run(usual());
      EXPECT_EQ(result.exit_code, 1);
      expect_one_line(result.err, {"mask.nii: ", dims[0] == 32767 ? "need more than 4 GiB, the "
                                                                    "most that is read"
                                                                  : "is truncated"});
      EXPECT_LT(result.peak_bytes, text.peak_bytes + (std::uint64_t{16} << 20));
    }
  }
}

}  // namespace
}  // namespace mezzotint::testing
