// Voxels of every type, files on disk, and writing.
#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <limits>
#include <numeric>
#include <string>

#include "base/sha256.h"
#include "formats/nifti.h"
#include "formats/nifti_space.h"
#include "support/gzip.h"
#include "support/nifti_builder.h"

namespace mezzotint {
namespace {

using testing::NiftiBuilder;

NiftiImage decode(std::vector<std::byte> bytes) {
  auto image = decode_nifti(std::move(bytes), "mask.nii");
  EXPECT_TRUE(image.ok()) << image.error().message;
  return image ? std::move(*image) : NiftiImage{};
}

template <typename T>
void expect_values(NiftiType type, const std::vector<T>& values) {
  for (const int version : {1, 2}) {
    for (const bool big_endian : {false, true}) {
      const NiftiImage image = decode(NiftiBuilder(version, big_endian)
                                          .dims({static_cast<std::int64_t>(values.size()), 1, 1})
                                          .type(type)
                                          .voxels(values)
                                          .build());
      ASSERT_EQ(image.voxels(), static_cast<std::int64_t>(values.size()));
      EXPECT_EQ(image.header.big_endian, big_endian);
      EXPECT_EQ(image.header.version, version);
      std::vector<float> floats(values.size());
      image.to_float(floats);
      for (std::size_t i = 0; i < values.size(); ++i) {
        const auto expected = static_cast<double>(values[i]);
        EXPECT_EQ(image.value(static_cast<std::int64_t>(i)), expected) << name_of(type);
        EXPECT_EQ(floats[i], static_cast<float>(expected)) << name_of(type);
      }
    }
  }
}

template <typename T>
void expect_integers(NiftiType type) {
  expect_values<T>(type, {std::numeric_limits<T>::min(), 0, 1, 3, std::numeric_limits<T>::max()});
}

TEST(NiftiFile, EveryType) {
  expect_integers<std::uint8_t>(NiftiType::kUint8);
  expect_integers<std::int8_t>(NiftiType::kInt8);
  expect_integers<std::int16_t>(NiftiType::kInt16);
  expect_integers<std::uint16_t>(NiftiType::kUint16);
  expect_integers<std::int32_t>(NiftiType::kInt32);
  expect_integers<std::uint32_t>(NiftiType::kUint32);
  expect_integers<std::int64_t>(NiftiType::kInt64);
  expect_integers<std::uint64_t>(NiftiType::kUint64);
  expect_values<float>(NiftiType::kFloat32, {-1.5F, 0, 3.25e30F});
  expect_values<double>(NiftiType::kFloat64, {-1.5, 0, 2.9999999993});
}

TEST(NiftiFile, ReadsAnyRange) {
  std::vector<std::uint16_t> values(10'000);
  std::iota(values.begin(), values.end(), std::uint16_t{0});
  const NiftiImage image =
      decode(NiftiBuilder().dims({100, 50, 2}).type(NiftiType::kUint16).voxels(values).build());
  std::vector<double> part(37);
  image.read_values(9'963, part);
  EXPECT_EQ(part.front(), 9'963);
  EXPECT_EQ(part.back(), 9'999);
  std::vector<float> all(10'000);
  image.to_float(all);
  EXPECT_EQ(all, std::vector<float>(values.begin(), values.end()));
}

// Written by nibabel 5, so that our reader is not judged by our own idea of the layout.
TEST(NiftiFile, FilesOfAnotherWriter) {
  const auto folder = std::filesystem::path(MEZZOTINT_SOURCE_DIR) / "fuzz/corpus/nifti";
  const Affine coronal{{{-2, 0, 0, 10}, {0, 0, 3, -20}, {0, -1.5, 0, 30}, {0, 0, 0, 1}}};
  struct Expected {
    const char* name;
    int version;
    AffineSource source;
    double first;
    double second;
    double last;
  };
  for (const Expected& expected :
       {Expected{"v1_int16_big_endian.nii", 1, AffineSource::kQform, -3.5, -3, 8},
        Expected{"v1_uint8.nii", 1, AffineSource::kSform, 0, 1, 2},
        Expected{"v2_float64.nii.gz", 2, AffineSource::kSform, 0, 0.125, 2.875},
        Expected{"v1_float32_4d.nii", 1, AffineSource::kSform, 0, 1, 2}}) {
    SCOPED_TRACE(expected.name);
    const auto image = read_nifti(folder / expected.name);
    ASSERT_TRUE(image.ok()) << image.error().message;
    EXPECT_EQ(image->header.version, expected.version);
    EXPECT_EQ(image->header.affine_source, expected.source);
    EXPECT_EQ(*volume_dims(image->header, ""), (std::array<std::int64_t, 3>{3, 4, 2}));
    EXPECT_EQ(image->value(0), expected.first);
    EXPECT_EQ(image->value(1), expected.second);
    EXPECT_EQ(image->value(23), expected.last);
    for (std::size_t i = 0; i < 16; ++i) {
      EXPECT_NEAR(image->header.affine[i / 4][i % 4], coronal[i / 4][i % 4], 1e-5);
    }
  }
}

class NiftiFolder : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = ::testing::TempDir() + "mezzotint-nifti-XXXXXX";
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    folder_ = name;
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::filesystem::path put(std::string_view name, std::span<const std::byte> bytes) const {
    const std::filesystem::path path = folder_ / name;
    std::ofstream(path, std::ios::binary)
        .write(reinterpret_cast<const char*>(bytes.data()),
               static_cast<std::streamsize>(bytes.size()));
    return path;
  }
  [[nodiscard]] std::filesystem::path in(std::string_view name) const { return folder_ / name; }

 private:
  std::filesystem::path folder_;
};

TEST_F(NiftiFolder, ContentDecidesNotTheName) {
  const auto file = NiftiBuilder().build();
  const auto packed = testing::gzipped(file);
  for (const char* name : {"a.nii", "a.nii.gz", "a", "a.txt"}) {
    for (const auto& bytes : {file, packed}) {
      const auto image = read_nifti(put(name, bytes));
      ASSERT_TRUE(image.ok()) << image.error().message;
      EXPECT_EQ(image->voxels(), 24);
      EXPECT_EQ(image->sha256, sha256_hex(bytes));
    }
  }
}

TEST_F(NiftiFolder, MissingFileAndFolder) {
  const auto missing = read_nifti(in("none.nii"));
  ASSERT_FALSE(missing.ok());
  EXPECT_EQ(missing.error().code, ErrorCode::kNotFound);
  EXPECT_NE(missing.error().message.find("none.nii: cannot open"), std::string::npos);
  const auto folder = read_nifti(in("."));
  ASSERT_FALSE(folder.ok());
  EXPECT_NE(folder.error().message.find("not a regular file"), std::string::npos);
}

// What cannot be the image is refused before it is read; the files are sparse.
TEST_F(NiftiFolder, LengthIsCheckedBeforeReading) {
  const auto expect_refused = [&](std::string_view name, std::string_view part) {
    const auto image = read_nifti(in(name));
    ASSERT_FALSE(image.ok()) << part;
    EXPECT_NE(image.error().message.find(part), std::string::npos) << image.error().message;
  };
  constexpr std::uintmax_t kTail = std::uintmax_t{1} << 20;
  std::filesystem::resize_file(put("padded.nii", NiftiBuilder().build()), 352 + 24 + kTail);
  EXPECT_TRUE(read_nifti(in("padded.nii")).ok());
  std::filesystem::resize_file(put("longer.nii", NiftiBuilder().build()), 352 + 24 + kTail + 1);
  expect_refused("longer.nii",
                 "longer.nii: has 1048953 bytes, but 4 x 3 x 2 voxels of uint8 from byte 352 need "
                 "only 376: more follows than padding");
  std::filesystem::resize_file(put("zeros.nii", {}), kMaxNiftiBytes * 4);
  expect_refused("zeros.nii", "zeros.nii: is not NIfTI");

  const NiftiBuilder pair = NiftiBuilder().text(nifti1::kMagic, "ni1").vox_offset(0);
  put("pair.hdr", pair.build());
  std::filesystem::resize_file(put("pair.img", pair.voxel_bytes()), kMaxNiftiBytes * 4);
  expect_refused("pair.hdr", "pair.img: has 17179869184 bytes, but 4 x 3 x 2 voxels");
}

TEST_F(NiftiFolder, EitherHalfOfAPair) {
  const NiftiBuilder builder = NiftiBuilder()
                                   .text(nifti1::kMagic, "ni1")
                                   .vox_offset(0)
                                   .dims({3, 1, 1})
                                   .voxels(std::vector<std::uint8_t>{7, 8, 9});
  put("brain.hdr", builder.build());
  const auto lonely = read_nifti(in("brain.hdr"));
  ASSERT_FALSE(lonely.ok());
  EXPECT_NE(lonely.error().message.find("brain.img: cannot open"), std::string::npos)
      << lonely.error().message;

  put("brain.img", builder.voxel_bytes());
  for (const char* name : {"brain.hdr", "brain.img"}) {
    const auto image = read_nifti(in(name));
    ASSERT_TRUE(image.ok()) << image.error().message;
    EXPECT_EQ(image->value(2), 9);
  }
  put("packed.hdr.gz", testing::gzipped(builder.build()));
  put("packed.img.gz", testing::gzipped(builder.voxel_bytes()));
  const auto packed = read_nifti(in("packed.img.gz"));
  ASSERT_TRUE(packed.ok()) << packed.error().message;
  EXPECT_EQ(packed->value(0), 7);

  const auto misnamed = read_nifti(put("brain.nii", builder.build()));
  ASSERT_FALSE(misnamed.ok());
  EXPECT_NE(misnamed.error().message.find("expected a name that ends in .hdr"), std::string::npos);
  const auto no_header = read_nifti(put("only.img", builder.voxel_bytes()));
  ASSERT_FALSE(no_header.ok());
  EXPECT_NE(no_header.error().message.find("(the header of"), std::string::npos);
}

TEST_F(NiftiFolder, HeaderAlone) {
  const NiftiBuilder builder = NiftiBuilder().dims({7, 5, 3});
  std::vector<std::byte> cut = builder.build();
  cut.resize(nifti1::kHeaderBytes + 1);  // no voxels
  for (const auto& path : {put("cut.nii", cut), put("cut.nii.gz", testing::gzipped(cut))}) {
    const auto header = read_nifti_header(path);
    ASSERT_TRUE(header.ok()) << header.error().message;
    EXPECT_EQ(header->dims, (std::vector<std::int64_t>{7, 5, 3}));
  }
  NiftiBuilder half = NiftiBuilder().dims({4, 3, 2}).vox_offset(0);
  half.text(nifti1::kMagic, {nifti1::kMagicPair.data(), 4});
  put("brain.hdr", half.build());
  const auto by_voxels = read_nifti_header(in("brain.img"));
  ASSERT_TRUE(by_voxels.ok()) << by_voxels.error().message;
  EXPECT_TRUE(by_voxels->two_files);
  const auto lonely = read_nifti_header(in("only.img"));
  ASSERT_FALSE(lonely.ok());
  EXPECT_NE(lonely.error().message.find("only.hdr: cannot open"), std::string::npos);
  EXPECT_NE(lonely.error().message.find("(the header of"), std::string::npos);
  const auto empty = read_nifti_header(put("empty.nii", {}));
  ASSERT_FALSE(empty.ok());
  EXPECT_NE(empty.error().message.find("is empty"), std::string::npos);
}

void expect_memory(const std::filesystem::path& path, const NiftiMemory& expected) {
  const NiftiMemory memory = nifti_memory(path);
  EXPECT_EQ(memory.reading, expected.reading) << path;
  EXPECT_EQ(memory.image, expected.image) << path;
  EXPECT_EQ(memory.voxels, expected.voxels) << path;
}

TEST_F(NiftiFolder, MemoryThatItTakes) {
  constexpr std::size_t kVoxels = 64 * 64 * 64;
  NiftiBuilder builder =
      NiftiBuilder().dims({64, 64, 64}).voxels(std::vector<std::uint8_t>(kVoxels));
  const std::vector<std::byte> plain = builder.build();
  expect_memory(put("plain.nii", plain), {plain.size(), plain.size(), kVoxels});
  const std::vector<std::byte> packed = testing::gzipped(plain);
  expect_memory(put("packed.nii", packed), {packed.size() + plain.size(), plain.size(), kVoxels});
  // A header may promise more than its file can hold.
  const std::vector<std::byte> liar =
      testing::gzipped(NiftiBuilder().dims({1024, 1024, 1024}).build());
  expect_memory(put("liar.nii", liar), {liar.size() * 1033, liar.size() * 1032, 0});
  // Of a pair, the half with the voxels counts.
  builder.vox_offset(0).text(nifti1::kMagic, {nifti1::kMagicPair.data(), 4});
  put("brain.hdr", builder.build());
  const std::vector<std::byte> voxels = testing::gzipped(builder.voxel_bytes());
  put("brain.img.gz", voxels);
  for (const char* name : {"brain.hdr", "brain.img.gz"}) {
    expect_memory(in(name), {voxels.size() + kVoxels, kVoxels, kVoxels});
  }
  expect_memory(in("absent.nii"), {});
}

TEST(NiftiWrite, KeepsEverySpatialFieldBitForBit) {
  Affine affine{{{1.1, 0.2, 0, -90.3}, {-0.2, 1.1, 0, -100.7}, {0, 0, 1.7, 3}, {0, 0, 0, 1}}};
  for (const bool big_endian : {false, true}) {
    NiftiBuilder mask(1, big_endian);
    mask.pixdim(0, -1).pixdim(1, 1.118).pixdim(3, 1.7).pixdim(4, 2.5).units(2 | 8);
    mask.sform(4, affine).qform(1, {0.1, 0.2, 0.3}, {-1.25, 3.3, 1e-3});
    mask.text(nifti1::kDescrip, "patient's name").text(228, "aux").text(328, "intent");
    mask.text(4, "data_type").text(14, "db_name");
    const NiftiImage image = decode(mask.build());

    const std::vector<float> data(24, 0.25F);
    const auto written = encode_nifti(image.header.geometry, {4, 3, 2}, data, "synthetic");
    ASSERT_TRUE(written.ok()) << written.error().message;
    EXPECT_EQ(written->size(), 352 + 24 * sizeof(float));

    // The same header by hand: little-endian, and nothing but what is set here.
    NiftiBuilder expected;
    expected.pixdim(0, -1).pixdim(1, 1.118).pixdim(3, 1.7).pixdim(4, 2.5).units(2 | 8);
    expected.sform(4, affine).qform(1, {0.1, 0.2, 0.3}, {-1.25, 3.3, 1e-3});
    expected.type(NiftiType::kFloat32).scaling(1, 0).voxels(data);
    for (std::size_t i = 4; i < 8; ++i) {
      expected.dim(i, 1);
    }
    expected.text(nifti1::kDescrip, "synthetic");
    EXPECT_EQ(*written, expected.build());
  }
}

TEST(NiftiWrite, ReadsBackTheSame) {
  std::vector<float> data(24);
  std::iota(data.begin(), data.end(), -3.5F);
  const Affine affine{{{0, 0, 2, 1}, {-3, 0, 0, 2}, {0, 1.5, 0, 3}, {0, 0, 0, 1}}};
  const auto written = encode_nifti(*geometry_from_affine(affine), {4, 3, 2}, data, "");
  ASSERT_TRUE(written.ok());
  const NiftiImage image = decode(*written);
  EXPECT_EQ(image.header.affine, affine);
  EXPECT_TRUE(image.header.notes.empty());
  std::vector<float> values(24);
  image.to_float(values);
  EXPECT_EQ(values, data);
}

TEST(NiftiWrite, LabelsAreBytes) {
  std::vector<std::uint8_t> labels(24);
  std::iota(labels.begin(), labels.end(), std::uint8_t{232});
  const Affine affine{{{-1, 0, 0, 1}, {0, -1, 0, 2}, {0, 0, 1, 3}, {0, 0, 0, 1}}};
  const auto written = encode_nifti(*geometry_from_affine(affine), {4, 3, 2}, labels, "");
  ASSERT_TRUE(written.ok()) << written.error().message;
  EXPECT_EQ(written->size(), 352U + 24);
  const NiftiImage image = decode(*written);
  EXPECT_EQ(image.header.type, NiftiType::kUint8);
  EXPECT_EQ(image.header.affine, affine);
  EXPECT_EQ(image.value(0), 232);
  EXPECT_EQ(image.value(23), 255);
  const auto too_many = encode_nifti({}, {4, 3, 1}, labels, "");
  ASSERT_FALSE(too_many.ok());
  EXPECT_NE(too_many.error().message.find("24 values for 4 x 3 x 1 voxels"), std::string::npos);
}

TEST(NiftiWrite, GeometryOfNifti2BecomesFloats) {
  Affine affine = scaling_affine({1.5, 1.5, 1.5});
  affine[0][3] = 0.1;
  const NiftiImage image = decode(NiftiBuilder(2).sform(1, affine).units(2).build());
  const auto written =
      encode_nifti(image.header.geometry, {4, 3, 2}, std::vector<float>(24), "synthetic");
  ASSERT_TRUE(written.ok());
  const NiftiImage again = decode(*written);
  EXPECT_EQ(again.header.version, 1);
  EXPECT_EQ(again.header.geometry.sform_code, 1);
  EXPECT_EQ(again.header.affine[0][3], static_cast<double>(0.1F));
}

TEST(NiftiWrite, RefusesWhatDoesNotFit) {
  const std::vector<float> data(24);
  const auto expect_refused = [&](const std::array<std::int64_t, 3>& dims,
                                  const std::string& description, std::string_view part) {
    const auto written = encode_nifti({}, dims, data, description);
    ASSERT_FALSE(written.ok());
    EXPECT_NE(written.error().message.find(part), std::string::npos) << written.error().message;
  };
  expect_refused({32768, 1, 1}, "", "expected 1 to 32767 along each axis");
  expect_refused({0, 3, 2}, "", "expected 1 to 32767 along each axis");
  expect_refused({5, 3, 2}, "", "24 values for 5 x 3 x 2 voxels");
  expect_refused({4, 3, 2}, std::string(80, 'x'), "a description of 80 bytes, expected at most 79");
  EXPECT_TRUE(encode_nifti({}, {4, 3, 2}, data, std::string(79, 'x')).ok());
}

TEST(NiftiFile, KnowsBothHalvesOfAPair) {
  using Paths = std::vector<std::filesystem::path>;
  EXPECT_EQ(nifti_files("a/mask.nii.gz"), (Paths{"a/mask.nii.gz"}));
  EXPECT_EQ(nifti_files("a/mask.hdr"), (Paths{"a/mask.hdr", "a/mask.img"}));
  EXPECT_EQ(nifti_files("a/mask.img.gz"), (Paths{"a/mask.img.gz", "a/mask.hdr"}));
}

}  // namespace
}  // namespace mezzotint
